"""What can be observed of a running agent. A sensor that fails says so once and is never an end."""
