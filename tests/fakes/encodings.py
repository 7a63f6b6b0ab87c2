"""Content encodings, as a provider may send them unasked."""

import gzip
import importlib
import zlib
from collections.abc import Callable

import pytest

Encode = Callable[[bytes], bytes]


def raw_deflate(body: bytes) -> bytes:
    """Without the zlib wrapper, as some servers send it (RFC 9110, 8.4.1.2)."""
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(body) + stream.flush()


def brotli_encoded(body: bytes) -> bytes:
    """A loud skip where this environment is older than the lock."""
    try:
        brotli = importlib.import_module("brotli")
    except ImportError:
        pytest.skip("brotli is not installed here: install what requirements.lock names")
    encoded: bytes = brotli.compress(body, quality=1)
    return encoded


ENCODINGS: dict[str, tuple[str, Encode]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip, two members": (
        "gzip",
        lambda body: gzip.compress(body[:40]) + gzip.compress(body[40:]),
    ),
    "gzip, stored": ("gzip", lambda body: gzip.compress(body, compresslevel=0)),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "deflate without wrapper": ("deflate", raw_deflate),
    "br": ("br", brotli_encoded),
}
"""Names for tests: what the header says, and how the body is made."""
