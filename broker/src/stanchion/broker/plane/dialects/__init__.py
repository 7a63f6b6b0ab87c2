"""Pure readers of the providers' request and response formats, one module each."""
