"""What the makers of pieces report while they work.

Typed values, never text on a terminal: the caller decides whether a person, a log or nobody sees
them. A download is always announced, with its size where known, before its first byte.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Piece(StrEnum):
    """The things a sandboxed run is put together from."""

    BUNDLE = "bundle"
    BASE = "base"
    HARNESS = "harness"
    RUNSC = "runsc"
    TOOLS = "tools"


class Stage(StrEnum):
    """How far a piece has come."""

    CACHED = "cached"
    WILL_DOWNLOAD = "will_download"
    DOWNLOADING = "downloading"
    BUILDING = "building"
    VERIFYING = "verifying"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of one piece."""

    piece: Piece
    stage: Stage
    message: str
    total_bytes: int | None = None
    """Size of what is downloaded or was made; None where nobody knows it."""


Report = Callable[[Progress], None]


def ignore(_progress: Progress) -> None:
    """Report to nobody."""
