"""Many attempts of many tasks: frozen before they start, planned from what is on the disk."""
