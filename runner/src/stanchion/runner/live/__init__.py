"""Attempts as they run, for people: what the events say, folded, found again and drawn."""
