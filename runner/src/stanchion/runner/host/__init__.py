"""What this host offers and how processes are started on it."""
