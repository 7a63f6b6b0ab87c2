"""Prints an attempt's transcript or its harness's output as it comes. Draws only."""

import sys

from rich.console import Console

from stanchion.protocol.codec import encode_line
from stanchion.protocol.events import (
    OutputStream,
    OutputWritten,
    StreamEntry,
    TranscriptChanged,
    decode_event,
)
from stanchion.protocol.transcript import TranscriptItem
from stanchion.runner.live.entry_text import entry_text
from stanchion.runner.live.transcript_lines import TranscriptReader


class Printer:
    """One attempt's way to standard output."""

    def __init__(self, console: Console, *, raw: bool, full: bool, as_json: bool) -> None:
        self.raw = raw
        self._console = console
        self._as_json = as_json
        self._full = full
        self._reader = TranscriptReader(full=full)

    def heading(self, text: str) -> None:
        """Before each of several attempts."""
        self._reader = TranscriptReader(full=self._full)
        if not self.raw and not self._as_json:
            self._console.print(f"== {text}", markup=False, highlight=False, style="bold")

    def item(self, item: TranscriptItem) -> None:
        """What is new of it."""
        if self._as_json:
            _write(encode_line(item))
            return
        for entry in self._reader.read(item):
            self._console.print(entry_text(entry))

    def output(self, data: bytes) -> None:
        """The harness's own bytes."""
        _write(data)

    def entry(self, entry: StreamEntry) -> None:
        """An entry of the broker's stream, if it is what is wanted."""
        match decode_event(entry.event):
            case TranscriptChanged(item=item) if not self.raw:
                self.item(item)
            case OutputWritten(stream=stream, data=data) if self.raw:
                if stream is not OutputStream.VERIFIER:
                    self.output(data)
            case _:
                pass


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
