"""A scripted provider on loopback. Imports no other part; no other part imports it."""
