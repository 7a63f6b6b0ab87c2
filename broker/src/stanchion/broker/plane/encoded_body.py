"""Decodes a body in a content encoding that nobody asked for, so that it can be looked into. Pure.

It decides whether the encoding is one that is known here, and whether the body is exactly one whole
stream of it within the bounds; whatever two readers might understand differently is refused. What
goes on is never the decoded body.

Sources: RFC 9110 section 8.4 (codings, `x-gzip`; servers that send `deflate` without its zlib
wrapper), RFC 1952 section 2.2 (members of a gzip file), RFC 7932 (brotli).
"""

import zlib
from collections.abc import Callable, Iterable
from typing import Final

MAX_ENCODED_BYTES: Final = 8 * 1024 * 1024
MAX_DECODED_BYTES: Final = 32 * 1024 * 1024
_STEP_BYTES: Final = 1024 * 1024
_GZIP_MAGIC: Final = b"\x1f\x8b"


class EncodingError(ValueError):
    """A body that is not handed on; the message says why, never what is in it."""


def encoding_of(headers: Iterable[tuple[str, str]]) -> str | None:
    """What the response's headers say of the body's encoding; None = it has none."""
    values = [value for name, value in headers if name.lower() == "content-encoding"]
    names = [name.strip().lower() for value in values for name in value.split(",")]
    return ", ".join(name for name in names if name not in {"", "identity"}) or None


def decoded(encoding: str, body: bytes) -> bytes:
    """The body itself, or EncodingError."""
    decode = _DECODERS.get(encoding)
    if decode is None:
        raise EncodingError(f"an unasked content encoding, {_printable(encoding)}, unknown here")
    if len(body) > MAX_ENCODED_BYTES:
        raise EncodingError(f"an unasked content encoding of more than {MAX_ENCODED_BYTES} bytes")
    return decode(body) if body else body


def _printable(encoding: str) -> str:
    """A provider's word, short."""
    return "".join(
        letter if letter.isascii() and letter.isprintable() else "?" for letter in encoding[:40]
    )


def _gzip(body: bytes) -> bytes:
    """All members of it."""
    members = []
    room = MAX_DECODED_BYTES
    while True:
        member, body = _inflated(body, 16 + zlib.MAX_WBITS, room)
        members.append(member)
        room -= len(member)
        if not body:
            return b"".join(members)
        if not body.startswith(_GZIP_MAGIC):
            raise EncodingError("bytes after the end of a gzip body")


def _deflate(body: bytes) -> bytes:
    wrapped = (
        len(body) >= 2 and body[0] & 15 == zlib.DEFLATED and int.from_bytes(body[:2]) % 31 == 0
    )
    data, rest = _inflated(body, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS, MAX_DECODED_BYTES)
    if rest:
        raise EncodingError("bytes after the end of a deflate body")
    return data


def _inflated(body: bytes, window_bits: int, room: int) -> tuple[bytes, bytes]:
    """One stream of it, and what follows."""
    stream = zlib.decompressobj(window_bits)
    try:
        data = stream.decompress(body, room + 1)
    except zlib.error:
        raise EncodingError("a body that is not in its content encoding") from None
    if len(data) > room:
        raise EncodingError(f"a body of more than {MAX_DECODED_BYTES} bytes when decoded")
    if not stream.eof:
        raise EncodingError("a body that ends within its content encoding")
    return data, stream.unused_data


def _brotli(body: bytes) -> bytes:
    try:
        import brotli
    except ImportError:
        raise EncodingError("an unasked content encoding, br, without the library for it") from None
    stream, data, given = brotli.Decompressor(), bytearray(), body
    try:
        while not stream.is_finished():
            piece = stream.process(given, output_buffer_limit=_STEP_BYTES)
            if not piece and not stream.is_finished() and stream.can_accept_more_data():
                raise EncodingError("a body that ends within its content encoding")
            data += piece
            given = b""
            if len(data) > MAX_DECODED_BYTES:
                raise EncodingError(f"a body of more than {MAX_DECODED_BYTES} bytes when decoded")
    except brotli.error:
        raise EncodingError("a body that is not in its content encoding") from None
    return bytes(data)


_DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
}
