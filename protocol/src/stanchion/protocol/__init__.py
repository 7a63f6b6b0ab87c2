"""Stanchion's own messages: what its parts say to each other, and the pure rules over them.

Imports msgspec and the standard library only. "Wire" elsewhere means provider bytes; this package
is never about those.
"""
