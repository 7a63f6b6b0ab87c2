"""One module a harness: how it is told its limits, how it is started, how it shows its end."""
