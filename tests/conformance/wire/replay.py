"""Replays a fixture in memory, through the reader alone, cut one way or another.

Three ways: in the pieces as given, one byte a piece, all in one piece; and `splits`: in two pieces,
cut at every byte. Sockets, framing and what leaves when are the business of `test_over_sockets`.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from conformance.wire import recorded as files
from conformance.wire.expecting import assert_named
from conformance.wire.recorded import Recorded
from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.response_reader import ResponseReader, form_of
from stanchion.protocol.dialects import Dialect
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
    stalled = recorded.ending == "stall"  # the broker ends it: at once after a terminal event
    return tap.answered(complete=tap.terminal if stalled else recorded.ending == "whole")


# For a dialect that brings a test of its own: a lenient comparison, of the words that are named.

CUTS = WAYS


def fixtures(dialect: str) -> list[Path]:
    return files.paths(Dialect(dialect))


def load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def check(path: Path, reader: DialectReader, cut: str) -> None:
    recorded = files.load(path)
    assert_named(read(recorded, reader, pieces(recorded, cut)), recorded.expected)
