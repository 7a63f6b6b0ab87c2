"""Reading receipts offline: what a bundle proves, and what it does not."""
