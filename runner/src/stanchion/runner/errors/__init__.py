"""What can go wrong, as data: one row an error, read by the command and by its documentation."""
