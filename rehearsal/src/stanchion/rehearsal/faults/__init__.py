"""What can go wrong by script: the kinds, how often each strikes, and what it makes of a reply."""
