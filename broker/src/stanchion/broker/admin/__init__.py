"""The admin API: its routes, its Unix socket, what it shows; no secret ever leaves by it."""
