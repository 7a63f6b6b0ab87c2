"""The `stanchion` command: options in, exit code out.

Each command's module imports what it needs only when it runs, so that help costs nothing.
"""
