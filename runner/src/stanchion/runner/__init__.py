"""The host side of one attempt: sandbox, launch, verification, results, command line."""
