"""How our messages become bytes: canonical JSON, one message a line.

Canonical means: keys sorted (fields of structs too), no white space. Receipts and digests
depend on it, so structs that are hashed hold no floats (RFC 8785 and msgspec agree on the rest).
Never used for provider bytes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

T = TypeVar("T")

PROTOCOL_VERSION = 1
"""Said in the first message of every channel; another number is refused by name."""

MAX_LINE_BYTES = 8 * 1024 * 1024
"""One framed message at most; larger payloads travel in pieces."""


class CodecError(ValueError):
    """Bytes that are not the message that was expected."""


def encode(message: object) -> bytes:
    """Canonical JSON of a message, without a line end."""
    return msgspec.json.encode(message, order="sorted")


def encode_with(message: msgspec.Struct, written: Mapping[str, msgspec.Raw]) -> bytes:
    """The same bytes where some members were encoded before: by name, what `encode` made of them.

    For a member that stands in several messages: it is encoded once.
    """
    return encode(msgspec.structs.replace(message, **written))


def encode_line(message: object) -> bytes:
    """Canonical JSON of a message and its line end."""
    return encode(message) + b"\n"


def decode(data: bytes | str, kind: type[T]) -> T:
    """The message in `data`; CodecError says where it is wrong."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise CodecError(f"not a {name}: {error}") from error


def digest(message: object) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(encode(message)).hexdigest()


class LineSplitter:
    """Bytes in, whole lines out. Holds at most MAX_LINE_BYTES of an unfinished line."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Each line that `data` completes, without its line end."""
        self._rest += data
        start = 0
        while (end := self._rest.find(b"\n", start)) >= 0:
            yield bytes(self._rest[start:end])
            start = end + 1
        del self._rest[:start]
        if len(self._rest) > self._max:
            raise CodecError(f"a line of more than {self._max} bytes without an end")
