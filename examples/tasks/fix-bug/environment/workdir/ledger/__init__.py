"""Who owes whom after a shared trip. All amounts are whole cents."""
