"""What RUN or PATH names: files on this disk, an attempt of the broker, or both.

The broker knows what is open and what it closed; the keepers' notes know where results are.
"""

from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import RunView
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.keeper.notes import NOTES, Note, read_notes
from stanchion.runner.live.find_run import looks_like_run, match_run, unknown_run


@dataclass(frozen=True, slots=True)
class Target:
    """One attempt: as the broker knows it, and as its keeper left word. At least one is there."""

    view: RunView | None
    note: Note | None

    @property
    def folder(self) -> Path | None:
        """Its result folder, if it is still there."""
        folder = None if self.note is None else Path(self.note.result_folder)
        return folder if folder is not None and folder.is_dir() else None

    @property
    def id(self) -> str:
        """Of the attempt."""
        known = self.view.id if self.view is not None else None
        return known or (self.note.attempt if self.note is not None else "")

    @property
    def is_open(self) -> bool:
        """Whether the broker says that it has not ended."""
        return self.view is not None and self.view.state == "open"


def as_path(name: str) -> Path | None:
    """The path that is meant; None where it is a run's name; RefusedError where it is neither."""
    path = Path(name)
    if path.exists():
        return path
    if not looks_like_run(name):
        raise unknown_run(name)
    return None


async def find_target(name: str, paths: StatePaths) -> Target:
    """The attempt of this name; RefusedError or BrokerUnreachableError where there is none."""
    note = match_run(name, read_notes(paths.root / NOTES), lambda note: note.attempt)
    try:
        async with BrokerClient(paths.admin_socket) as broker:
            view = match_run(name, await broker.runs(), lambda view: view.id)
    except BrokerUnreachableError:
        if note is None:
            raise
        return Target(None, note)
    if view is None and note is None:
        raise unknown_run(name)
    if view is not None and (note is None or note.attempt != view.id):
        # A run's newest attempt is the one that the broker knows last.
        notes = read_notes(paths.root / NOTES)
        note = next((known for known in notes if known.attempt == view.id), None)
    return Target(view, note)


async def find_open(name: str, paths: StatePaths) -> Target:
    """The same, for what needs an attempt that runs."""
    target = await find_target(name, paths)
    if target.view is None:
        raise BrokerUnreachableError(
            f"no broker answers on {paths.admin_socket}: {target.id} cannot be reached; "
            "start one with `stanchion broker serve`"
        )
    if not target.is_open:
        raise run_ended(target.view)
    return target


def _open_notes(folder: Path, paths: StatePaths) -> list[Note]:
    place = folder.absolute()
    return [
        note
        for note in read_notes(paths.root / NOTES)
        if note.ended_at_ms is None and Path(note.result_folder).is_relative_to(place)
    ]


async def open_below(folder: Path, paths: StatePaths) -> list[Target]:
    """Every attempt that runs and writes its result at or below this folder."""
    notes = _open_notes(folder, paths)
    async with BrokerClient(paths.admin_socket) as broker:
        views = {view.id: view for view in await broker.runs() if view.state == "open"}
    found = [Target(views[note.attempt], note) for note in notes if note.attempt in views]
    if not found:
        raise refuse(
            "nothing_runs",
            field="RUN|DIR",
            value=folder,
            rule="no attempt that writes its results there is running",
            remedy=f"See stanchion show {folder}",
        )
    return found


def run_ended(view: RunView) -> RefusedError:
    """What to say where only a running attempt makes sense."""
    how = f" ({view.outcome.reason})" if view.outcome else ""
    return refuse(
        "run_ended",
        field="RUN",
        value=view.id,
        rule=f"it has ended{how}, and only an attempt that runs can be meant here",
        remedy=f"See stanchion show {view.id}",
    )
