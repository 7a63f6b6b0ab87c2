"""What can be left of an attempt whose keeper is gone, and whose it is. Pure.

Proved dead means: a note names the keeper's process, and that process is gone. What nobody's note
speaks of may belong to another state folder or launcher; it is named and left alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from stanchion.protocol.admin import RunView
from stanchion.runner.keeper.notes import Note

NOT_OURS = "of no keeper of this state folder, maybe another's"


class TraceKind(StrEnum):
    """In the order in which they are taken away."""

    SANDBOX = "sandbox"
    """A sandbox that runsc still knows of."""
    CGROUP = "cgroup"
    RUN = "run"
    """An attempt without an ending: open at the broker, or without a result."""
    DIRECTORY = "directory"
    SCRATCH = "scratch"


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is left."""

    kind: TraceKind
    what: str
    """A path, or an id."""
    attempt: str | None
    task: str | None
    age_s: int | None
    """Since its attempt began."""
    proven: bool
    """Whether its owner is proved dead; only then it may be taken away."""
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What lies about on this host."""

    sandboxes: tuple[str, ...] = ()
    """Ids that runsc has state of."""
    cgroups: tuple[tuple[str, str], ...] = ()
    """Path and sandbox id of each that nothing lives in."""
    directories: tuple[str, ...] = ()
    scratch: tuple[tuple[str, str], ...] = ()
    """Path and sandbox id."""
    results: frozenset[str] = frozenset()
    """Attempts whose result is written, or whose result folder is gone."""


def traces(
    seen: Seen,
    notes: Sequence[Note],
    views: Sequence[RunView] | None,
    *,
    gone: set[str],
    now_ms: int,
) -> list[Trace]:
    """All that is left. `gone`: attempts whose keeper is proved gone; `views` None: no broker."""
    owners = _Owners(notes, gone, now_ms)
    found = [owners.by_sandbox(TraceKind.SANDBOX, name, name) for name in seen.sandboxes]
    found += [owners.by_sandbox(TraceKind.CGROUP, path, name) for path, name in seen.cgroups]
    found += owners.runs(views, seen.results)
    served = {view.directory for view in views or () if view.state == "open"}
    found += [owners.by_directory(path, open_here=path in served) for path in seen.directories]
    found += [owners.by_sandbox(TraceKind.SCRATCH, path, name) for path, name in seen.scratch]
    return [trace for trace in found if trace is not None]


class _Owners:
    def __init__(self, notes: Iterable[Note], gone: set[str], now_ms: int) -> None:
        self._notes = list(notes)
        self._gone = gone
        self._now_ms = now_ms
        self._sandboxes = {note.sandbox_id: note for note in self._notes}
        self._directories = {note.directory: note for note in self._notes if note.directory}

    def by_sandbox(self, kind: TraceKind, what: str, sandbox_id: str) -> Trace | None:
        return self._trace(kind, what, self._sandboxes.get(sandbox_id))

    def by_directory(self, path: str, *, open_here: bool) -> Trace | None:
        note = self._directories.get(path)
        if note is None and open_here:
            return None  # told of as a run
        return self._trace(TraceKind.DIRECTORY, path, note)

    def runs(self, views: Sequence[RunView] | None, results: frozenset[str]) -> list[Trace | None]:
        is_open = {view.id: view for view in views or () if view.state == "open"}
        found = [
            self._trace(TraceKind.RUN, note.attempt, note)
            for note in self._notes
            if note.attempt in is_open or (note.ended_at_ms is None and note.attempt not in results)
        ]
        known = {note.attempt for note in self._notes}
        return [*found, *(self._foreign(v) for name, v in is_open.items() if name not in known)]

    def _foreign(self, view: RunView) -> Trace:
        return Trace(
            kind=TraceKind.RUN,
            what=view.id,
            attempt=view.id,
            task=view.launch.spec.task.name,
            age_s=max(0, self._now_ms - view.opened_at_ms) // 1000,
            proven=False,
            why=NOT_OURS,
        )

    def _trace(self, kind: TraceKind, what: str, note: Note | None) -> Trace | None:
        """None for what a living keeper holds."""
        if note is None:
            return Trace(
                kind=kind,
                what=what,
                attempt=None,
                task=None,
                age_s=None,
                proven=False,
                why=NOT_OURS,
            )
        if note.attempt not in self._gone:
            return None
        return Trace(
            kind=kind,
            what=what,
            attempt=note.attempt,
            task=note.task,
            age_s=max(0, self._now_ms - note.begun_at_ms) // 1000,
            proven=True,
            why=f"its keeper (pid {note.pid}) is gone",
        )
