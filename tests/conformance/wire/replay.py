"""Replays a fixture in memory, through the reader alone, cut one way or another.

Three ways: in the pieces as given, one byte a piece, all in one piece; and `splits`: in two pieces,
cut at every byte. Sockets and framing are the business of `test_over_sockets`, time and what leaves
when that of `test_in_virtual_time`.
"""

from collections.abc import Iterable, Iterator

from conformance.wire.recorded import Recorded
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.response_reader import ResponseReader, form_of
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered

WAYS = ("given", "bytes", "whole")
SMALL = 4096
"""Bodies up to this size are cut at every byte; larger ones into pieces of LARGE_PIECE bytes, which
is a prime number. That a line of a megabyte may come byte by byte is tested at the splitter."""
LARGE_PIECE = 4093
OUTPUT_LIMIT = 128_000


def pieces(recorded: Recorded, way: str) -> list[bytes]:
    """The body, cut this way."""
    if way == "given":
        return [piece.data for piece in recorded.given]
    body = recorded.whole
    step = len(body) if way == "whole" else 1 if len(body) <= SMALL else LARGE_PIECE
    return [body[i : i + step] for i in range(0, len(body), step or 1)]


def splits(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """A small body in two pieces, at every byte."""
    places = range(1, len(body)) if len(body) <= SMALL else ()
    return ((body[:place], body[place:]) for place in places)


def reader_of(recorded: Recorded, dialect: Dialect) -> ResponseReader:
    """What reads the response."""
    return ResponseReader(
        READERS[dialect],
        status=recorded.status,
        form=form_of(recorded.content_type or None),
        output_limit=recorded.request.limit or OUTPUT_LIMIT,
    )


def read(recorded: Recorded, dialect: Dialect, body: Iterable[bytes]) -> Answered:
    """The record of these pieces."""
    tap = reader_of(recorded, dialect)
    for piece in body:
        tap.saw(piece)
    stalled = recorded.ends == "stall"  # the broker ends it: at once after a terminal event
    return tap.answered(complete=tap.terminal if stalled else recorded.ends == "whole")
