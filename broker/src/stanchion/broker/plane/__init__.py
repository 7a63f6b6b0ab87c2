"""The data plane: a model request in, the same bytes out, and what they said on record."""
