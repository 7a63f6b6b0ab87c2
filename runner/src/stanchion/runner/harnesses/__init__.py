"""What can be said and shown of harnesses on this machine: releases, wire, records."""
