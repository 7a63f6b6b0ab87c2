"""Looks through this host for what dead keepers left; changes nothing."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import RunView
from stanchion.runner.host.process_identity import is_gone
from stanchion.runner.keeper.notes import NOTES, Note, read_notes
from stanchion.runner.orphans.traces import Seen, Trace, traces
from stanchion.runner.results.job_folder import RESULT
from stanchion.runner.sandbox.cgroup import MOUNT, PARENT

_SANDBOX = re.compile(r"[0-9a-f]{32}")
_DIRECTORY = re.compile(r"[0-9a-f]{8}\Z")


@dataclass(frozen=True, slots=True)
class Places:
    """Where traces can be."""

    paths: StatePaths
    runtime_dir: Path
    cgroups: Path = MOUNT

    @property
    def notes(self) -> Path:
        return self.paths.root / NOTES

    @property
    def scratch(self) -> Path:
        return self.paths.root / "sandboxes"

    @property
    def runsc_root(self) -> Path:
        return self.scratch / "runsc"


async def look(places: Places) -> list[Trace]:
    """Everything that is left, proved or not."""
    views = await _views(places.paths)
    notes = read_notes(places.notes)
    gone = {note.attempt for note in notes if is_gone(note.pid, note.identity)}
    now_ms = time.time_ns() // 1_000_000
    return traces(see(places, notes), notes, views, gone=gone, now_ms=now_ms)


async def _views(paths: StatePaths) -> list[RunView] | None:
    try:
        async with BrokerClient(paths.admin_socket) as broker:
            return await broker.runs()
    except BrokerUnreachableError:
        return None


def see(places: Places, notes: Iterable[Note]) -> Seen:
    """What lies about in these places."""
    return Seen(
        sandboxes=tuple(sorted(_ids(places.runsc_root.glob("*.state")))),
        cgroups=tuple(sorted(_cgroups(places.cgroups))),
        directories=tuple(sorted(_directories(places.runtime_dir, notes))),
        scratch=tuple(
            (str(path), path.name)
            for path in sorted(places.scratch.glob("*"))
            if _SANDBOX.fullmatch(path.name)
        ),
        results=frozenset(note.attempt for note in notes if _is_settled(note)),
    )


def _is_settled(note: Note) -> bool:
    """Whether no result is missing."""
    folder = Path(note.result_folder)
    return not folder.is_dir() or (folder / RESULT).is_file()


def _ids(files: Iterable[Path]) -> set[str]:
    found = (_SANDBOX.match(file.name) for file in files)
    return {match[0] for match in found if match}


def _cgroups(mount: Path) -> set[tuple[str, str]]:
    """Those of sandboxes, in either hierarchy, in which no process lives."""
    found = [*mount.glob(f"{PARENT}/*"), *mount.glob(f"*/{PARENT}/*")]
    return {
        (str(folder), folder.name)
        for folder in found
        if _SANDBOX.fullmatch(folder.name) and _is_empty(folder)
    }


def _is_empty(folder: Path) -> bool:
    try:
        files = [*folder.rglob("cgroup.procs")]
        return bool(files) and not any(file.read_bytes().strip() for file in files)
    except OSError:
        return False


def _directories(runtime_dir: Path, notes: Iterable[Note]) -> set[str]:
    told = {note.directory for note in notes if note.directory}
    found = {str(path) for path in runtime_dir.glob("*") if _DIRECTORY.fullmatch(path.name)}
    return found | {path for path in told if Path(path).is_dir()}
