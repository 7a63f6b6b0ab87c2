"""Harnesses on this machine: their releases, and what each was seen to send for what was asked."""
