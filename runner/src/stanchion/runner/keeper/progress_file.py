"""`progress.json` in an attempt's result folder: where its keeper is, for whoever reads the folder.

Written by the keeper alone, whole or not at all, and rarely enough to cost nothing. No attempt
depends on it, and once a result is there, the result counts.
"""

import logging
import time
from enum import StrEnum
from pathlib import Path

import msgspec

from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.events import (
    ExchangeEnded,
    ExchangeHeld,
    Stage,
    StageChanged,
    StageState,
    StreamEntry,
    decode_event,
)
from stanchion.protocol.refusal import Refusal
from stanchion.runner.keeper.order import BrokerAway, Ended, Failed, NotOpened, Opened, Report
from stanchion.runner.results.job_folder import write_json

PROGRESS = "progress.json"
log = logging.getLogger(__name__)


class KeeperState(StrEnum):
    """How far a keeper has come."""

    STARTING = "starting"
    """The broker may or may not have heard of the attempt."""
    OPEN = "open"
    ENDED = "ended"
    NOT_OPENED = "not_opened"
    """The broker refused it or was not there; nothing ran."""
    FAILED = "failed"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    version: int = 1
    state: KeeperState
    id: str | None = None
    """The attempt's id at the broker."""
    why: str | None = None
    refusal: Refusal | None = None
    stage: Stage | None = None
    responses: int = 0
    """Completed, with content."""
    last_response_at_ms: int | None = None
    held: int = 0
    """Requests that the broker holds now."""
    updated_at_ms: int


class ProgressFile:
    """The keeper's end of it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PROGRESS
        self._held: set[int] = set()
        self._now = Progress(state=KeeperState.STARTING, updated_at_ms=_wall_ms())
        self._write()

    def reported(self, report: Report) -> None:
        """What the keeper has just said to its command."""
        match report:
            case Opened(id=name):
                self._write(state=KeeperState.OPEN, id=name)
            case NotOpened(refusal=refusal):
                why = refusal.sentence()
                self._write(state=KeeperState.NOT_OPENED, refusal=refusal, why=why)
            case BrokerAway(why=why):
                self._write(state=KeeperState.NOT_OPENED, why=why)
            case Failed(why=why):
                self._write(state=KeeperState.FAILED, why=why)
            case Ended():
                self._write(state=KeeperState.ENDED)

    def take(self, entry: StreamEntry) -> None:
        """One entry of the attempt's stream."""
        match decode_event(entry.event):
            case StageChanged(stage=stage, state=StageState.STARTED):
                self._write(stage=stage)
            case ExchangeHeld(exchange=exchange, holding=holding):
                (self._held.add if holding else self._held.discard)(exchange)
                self._write(held=len(self._held))
            case ExchangeEnded(exchange=exchange, answered=answered, side=side):
                self._held.discard(exchange)
                content = side is None and answered.has_content
                self._write(
                    held=len(self._held),
                    responses=self._now.responses + content,
                    last_response_at_ms=entry.at_ms if content else self._now.last_response_at_ms,
                )
            case _:
                pass

    def _write(self, **changes: object) -> None:
        changes["updated_at_ms"] = _wall_ms()
        self._now = msgspec.structs.replace(self._now, **changes)
        try:
            write_json(self._path, self._now)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)


def read_progress(folder: Path) -> Progress | None:
    """What the keeper wrote last; None where there is nothing to read."""
    try:
        return decode((folder / PROGRESS).read_bytes(), Progress)
    except (OSError, CodecError):
        return None


def note_not_opened(folder: Path, why: str) -> None:
    """For a keeper that cannot say it any more: nothing of this attempt ever ran."""
    write_json(
        folder / PROGRESS,
        Progress(state=KeeperState.NOT_OPENED, why=why, updated_at_ms=_wall_ms()),
    )


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
