"""What is printed of a broker's stream."""

import io
import json

import msgspec
import pytest
from rich.console import Console

from stanchion.protocol.codec import encode
from stanchion.protocol.events import (
    AssertedBy,
    Event,
    OutputStream,
    OutputWritten,
    StreamEntry,
    TranscriptChanged,
    Warned,
)
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.runner.live.log_printing import Printer

ITEM = TranscriptItem(id="1", session="s", kind=ItemKind.TEXT, text="hello")
EVENTS: tuple[Event, ...] = (
    TranscriptChanged(item=ITEM),
    OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"out\n"),
    OutputWritten(stream=OutputStream.VERIFIER, data=b"1 passed\n"),
    Warned(what="x", detail="y"),
)


def printed(**fields: bool) -> str:
    page = io.StringIO()
    told = {"raw": False, "full": False, "as_json": False} | fields
    printer = Printer(Console(file=page), **told)
    for event in EVENTS:
        raw = msgspec.Raw(encode(event))
        printer.entry(StreamEntry(cursor="e.1", at_ms=1, asserted_by=AssertedBy.SANDBOX, event=raw))
    return page.getvalue()


def test_people_get_the_transcript_alone() -> None:
    assert printed().split() == ["text", "hello"]


def test_raw_is_the_harnesss_output_and_not_the_tests(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert printed(raw=True) == ""
    assert capfdbinary.readouterr().out == b"out\n"


def test_json_is_one_item_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printed(as_json=True)

    assert json.loads(capfdbinary.readouterr().out)["text"] == "hello"
