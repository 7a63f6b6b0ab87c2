"""Replays a fixture in memory, through the reader alone, cut one way or another.

Three ways: in the pieces as given, one byte a piece, all in one piece; and `splits`: in two pieces,
cut at every byte. Sockets, framing and what leaves when are the business of `test_over_sockets`.
"""

from collections.abc import Iterable, Iterator

from conformance.wire.recorded import Recorded
from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.response_reader import ResponseReader, form_of
from stanchion.protocol.exchange import Answered

WAYS = ("given", "bytes", "whole")
OUTPUT_LIMIT = 128_000


def pieces(recorded: Recorded, way: str) -> list[bytes]:
    """The body, cut this way."""
    if way == "given":
        return [piece.data for piece in recorded.given]
    body = recorded.whole
    return [body] if way == "whole" else [body[i : i + 1] for i in range(len(body))]


def splits(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The body in two pieces, at every byte."""
    return ((body[:place], body[place:]) for place in range(1, len(body)))


def read(recorded: Recorded, reader: DialectReader, body: Iterable[bytes]) -> Answered:
    """The record of these pieces."""
    tap = ResponseReader(
        reader,
        status=recorded.status,
        form=form_of(recorded.content_type or None),
        output_limit=recorded.request.limit or OUTPUT_LIMIT,
    )
    for piece in body:
        tap.saw(piece)
    stalled = recorded.ends == "stall"  # the broker ends it: at once after a terminal event
    return tap.answered(complete=tap.terminal if stalled else recorded.ends == "whole")
