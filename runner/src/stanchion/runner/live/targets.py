"""What RUN or PATH names: files on this disk, an attempt of the broker, or both.

The broker knows what is open and what it closed; the keepers' notes know where results are.
"""

from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import RunView
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
    """The path that is meant; None where it is a run's name."""
    path = Path(name)
    if path.exists() or not looks_like_run(name):
        return path
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


def no_path(path: Path) -> Exception:
    """What to say of a path that is not there."""
    return unknown_run(str(path))
