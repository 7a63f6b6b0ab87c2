"""What a keeper leaves on the disk about itself: a note by which others find, rejoin or mourn it.

One file an attempt in the state folder, written before the attempt is opened and kept after its
end, so that a run's name leads to its results. The copy in the result folder is what a rerun needs.
Holds no key and nothing the sandbox said.
"""

import logging
import time
from pathlib import Path

import msgspec

from stanchion.protocol.admin import RunOpenedReply
from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.launch import FrozenLaunch
from stanchion.runner.host.process_identity import is_gone, own_identity
from stanchion.runner.keeper.order import Order
from stanchion.runner.results.job_folder import write_json

ATTEMPT_FILE = "attempt.json"
NOTES = "attempts"
"""In the state folder."""
log = logging.getLogger(__name__)


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt and its keeper."""

    version: int = 1
    attempt: str
    """Its id, `RUN.NUMBER`."""
    task: str
    pid: int
    identity: str
    """Of the keeper's process."""
    sandbox_id: str
    runsc: str | None
    """None for a sandbox without gVisor: it ends with its keeper."""
    scratch_folder: str
    result_folder: str
    admin_socket: str
    begun_at_ms: int
    directory: str | None = None
    """The attempt directory; None before the broker opened the attempt."""
    ended_at_ms: int | None = None

    @property
    def is_orphan(self) -> bool:
        """Not ended, and its keeper is proved gone."""
        return self.ended_at_ms is None and is_gone(self.pid, self.identity)


class AttemptFile(msgspec.Struct, frozen=True, kw_only=True):
    """`attempt.json`: the terms of an attempt and where its task was."""

    version: int = 1
    run: str
    attempt: int
    launch: FrozenLaunch
    launch_sha256: str
    task_folder: str
    untouched_reward: str
    keeper_pid: int
    keeper_identity: str
    rehearsal_script: str | None = None


class NoteFile:
    """The keeper's own note; without a folder for it nothing is written."""

    def __init__(self, order: Order, pid: int) -> None:
        request = order.open_run
        self._order = order
        self._note = Note(
            attempt=f"{request.run}.{request.attempt}",
            task=request.spec.task.name,
            pid=pid,
            identity=own_identity(),
            sandbox_id=order.sandbox_id,
            runsc=order.pieces.runsc,
            scratch_folder=order.scratch_folder,
            result_folder=order.result_folder,
            admin_socket=order.admin_socket,
            begun_at_ms=_wall_ms(),
        )
        self._write()

    @property
    def _path(self) -> Path | None:
        folder = self._order.notes_folder
        return None if folder is None else Path(folder) / f"{self._note.attempt}.json"

    def _write(self, **changes: object) -> None:
        self._note = msgspec.structs.replace(self._note, **changes)
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_json(self._path, self._note)
        except OSError as error:  # the attempt does not depend on it
            log.warning("the note %s could not be written: %s", self._path, error)

    def opened(self, opened: RunOpenedReply) -> None:
        """The attempt exists: where its directory is, and its terms beside the results."""
        order, request = self._order, self._order.open_run
        self._write(directory=opened.directory)
        terms = AttemptFile(
            run=request.run,
            attempt=request.attempt,
            launch=opened.launch,
            launch_sha256=opened.launch_sha256,
            task_folder=order.task_folder,
            untouched_reward=request.untouched_reward,
            keeper_pid=self._note.pid,
            keeper_identity=self._note.identity,
            rehearsal_script=order.rehearsal.script if order.rehearsal else None,
        )
        write_json(Path(order.result_folder) / ATTEMPT_FILE, terms)

    def ended(self) -> None:
        """Nothing is left to be done for the attempt."""
        self._write(ended_at_ms=_wall_ms())

    def discard(self) -> None:
        """The attempt was never opened."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def read_notes(folder: Path) -> list[Note]:
    """All that can be read, oldest first; a file that is none is passed over."""
    notes = []
    for path in folder.glob("*.json"):
        try:
            notes.append(decode(path.read_bytes(), Note))
        except (OSError, CodecError):
            continue
    return sorted(notes, key=lambda note: (note.begun_at_ms, note.attempt))


def mark_ended(folder: Path, note: Note) -> None:
    """The same for a keeper that cannot do it any more."""
    write_json(
        folder / f"{note.attempt}.json", msgspec.structs.replace(note, ended_at_ms=_wall_ms())
    )


def read_attempt_file(folder: Path) -> AttemptFile | None:
    """The terms beside an attempt's results; None where they are not there."""
    try:
        return decode((folder / ATTEMPT_FILE).read_bytes(), AttemptFile)
    except FileNotFoundError:
        return None


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
