"""One attempt from its frozen terms to its signed close: leases, control socket, verdict."""
