"""A result with its receipts, from a folder or from the broker, ready to be shown."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.events import StreamEntry, decode_event
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.protocol.result import AttemptResult, OpenAttempt
from stanchion.runner.keeper.recorder import Moments
from stanchion.runner.live.board import Board
from stanchion.runner.live.following import read_events
from stanchion.runner.live.targets import find_target
from stanchion.runner.live.view_document import shown
from stanchion.runner.results.job_folder import (
    RESULT,
    planned_attempts,
    read_results,
    result_files,
)
from stanchion.runner.results.result_text import result_text
from stanchion.runner.results.wire_picture import WirePicture, picture

BUNDLE = "receipts.bundle"


@dataclass(frozen=True, slots=True)
class Shown:
    """One attempt to be shown. `wire` is None where its receipts are not at hand."""

    result: AttemptResult | OpenAttempt
    wire: WirePicture | None
    where: str | None = None
    """The path by which it was found."""
    planned: int | None = None
    """Attempts that its job planned for each task."""


def from_path(path: Path) -> list[Shown]:
    """The results at or below a path, with the receipts beside them."""
    files = result_files(path)
    found = []
    for file in files:
        (result,) = read_results(file)
        wire = _receipts(result, file.parent)
        found.append(Shown(result, wire, str(file.parent), planned_attempts(file.parent)))
    return found


def _receipts(result: AttemptResult, folder: Path | None = None) -> WirePicture | None:
    """Beside the result first: the folder may have been moved."""
    named = result.receipts.bundle
    places = [*([folder / BUNDLE] if folder else []), *([Path(named)] if named else [])]
    for place in places:
        try:
            return picture(place.read_bytes())
        except OSError:
            continue
    return None


def text_with_receipts(result: AttemptResult) -> str:
    """A result that has just been made, for people."""
    return result_text(result, _receipts(result))


async def from_run(name: str, paths: StatePaths) -> Shown:
    """An attempt by its name, open or closed."""
    target = await find_target(name, paths)
    folder = target.folder
    if not target.is_open and folder is not None and (folder / RESULT).is_file():
        (found,) = from_path(folder)
        return found
    if target.view is None:
        raise refuse(
            "broker_needed",
            field="RUN",
            value=target.id,
            rule=f"it has no result yet in {target.note and target.note.result_folder}, and no "
            "broker answers that knows it",
            remedy="Start it with stanchion broker serve",
        )
    async with BrokerClient(paths.admin_socket) as broker:
        wire = picture(await broker.bundle(target.id))
        moments, board = Moments(), Board()

        def take(entry: StreamEntry) -> None:
            event = decode_event(entry.event)
            moments.take(event, entry.at_ms)
            board.take(event, entry.at_ms)

        try:
            await read_events(broker, target.id, take, follow=False)
        except RefusedError:
            moments, board = Moments(), Board()  # the events are not kept any more
    now_ms = time.time_ns() // 1_000_000
    return Shown(shown(target.view, moments, wire, board, now_ms=now_ms), wire)


def text_of(found: Sequence[Shown]) -> str:
    """For people."""
    return "\n\n".join(
        result_text(one.result, one.wire, where=one.where, planned=one.planned) for one in found
    )
