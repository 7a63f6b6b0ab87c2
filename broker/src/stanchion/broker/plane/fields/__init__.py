"""Which body fields a request may carry: the table, and the walk over a body."""
