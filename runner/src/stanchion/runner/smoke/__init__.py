"""Two short tasks, and what of their terms reached the provider, read from the receipts alone."""
