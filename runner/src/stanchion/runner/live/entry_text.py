"""Entries of a transcript as `stanchion logs` prints them: time, label, words. Draws only."""

from datetime import UTC, datetime

from rich.text import Text

from stanchion.runner.live.screen import STYLES
from stanchion.runner.live.transcript_lines import Entry

LABEL = 16


def entry_text(entry: Entry) -> Text:
    """All of it; further lines stand under the first."""
    clock = _clock(entry.at_ms)
    indent = " " * (len(clock) + LABEL + 2)
    words = entry.text.replace("\n", f"\n{indent}")
    text = Text(f"{clock} ", style="dim")
    text.append(f"{entry.label:<{LABEL}} ", style="bold")
    text.append(words, style=STYLES.get(entry.kind, ""))
    return text


def _clock(at_ms: int | None) -> str:
    """The sandbox's clock, for people: UTC, to the second."""
    if at_ms is None:
        return " " * 8
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S}"
    except (OverflowError, OSError, ValueError):  # the sandbox's word
        return "??:??:??"
