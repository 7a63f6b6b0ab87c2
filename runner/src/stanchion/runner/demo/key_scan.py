"""Looks for a secret in a running sandbox from outside: guest memory, written files, environment.

Guest memory is the sentry's memory file and what the sandbox writes is its overlay's file store;
both stay readable through the descriptors of the sandbox's processes. Reports counts only: the
secret itself appears in no message. If it could not look, it says why and counts nothing.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

CHUNK_BYTES = 4 * 1024 * 1024
PROC = Path("/proc")
MEMORY_FILE = "runsc-memory"
FILE_STORE = "filestore"
"""`runsc-filestore-…` in an overlay folder of its own, `.gvisor.filestore.…` beside the root."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look found. `places` is None where it could not look."""

    places: int | None
    scanned_bytes: int
    why: str | None = None
    gone: bool = False
    """There was no sandbox any more: nothing that could hold a secret, and nothing to look at."""


def scan_sandbox(sandbox_id: str, secret: bytes, *, proc: Path = PROC) -> Scan:
    """How often the secret is in the sandbox right now."""
    if not secret:
        raise ValueError("an empty secret is everywhere")
    pids = sandbox_pids(sandbox_id, proc=proc)
    if not pids:
        return Scan(None, 0, f"no process of sandbox {sandbox_id[:8]} is running", gone=True)
    try:
        with _Opened() as opened:
            texts = [
                _read(proc / str(pid) / name) for pid in pids for name in ("environ", "cmdline")
            ]
            names = opened.open_stores(pids, proc)
            missing = {MEMORY_FILE, FILE_STORE} - names
            if missing:
                return Scan(None, 0, f"not found in the sandbox's processes: {', '.join(missing)}")
            places = sum(text.count(secret) for text in texts)
            scanned = sum(len(text) for text in texts)
            for descriptor in opened.descriptors:
                found, size = count_in(descriptor, secret)
                places += found
                scanned += size
    except OSError as error:
        return Scan(None, 0, f"{error.filename or 'the sandbox'}: {error.strerror}")
    return Scan(places, scanned)


def sandbox_pids(sandbox_id: str, *, proc: Path = PROC) -> list[int]:
    """The runtime's processes of this sandbox, by their command lines or cgroups."""
    wanted = sandbox_id.encode()
    folders = (folder for folder in proc.iterdir() if folder.name.isdigit())
    return sorted(
        int(folder.name)
        for folder in folders
        if wanted in _read(folder / "cgroup")
        or (b"runsc" in (line := _read(folder / "cmdline")) and wanted in line)
    )


class _Opened:
    """Descriptors of the stores, opened once each; they stay valid when the sandbox ends."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)

    def open_stores(self, pids: Iterable[int], proc: Path) -> set[str]:
        """Open every memory file and file store; returns which kinds there were."""
        known: set[tuple[int, int]] = set()
        kinds: set[str] = set()
        for link, kind in _store_links(pids, proc):
            try:
                descriptor = os.open(link, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) in known:
                os.close(descriptor)
                continue
            known.add((status.st_dev, status.st_ino))
            self.descriptors.append(descriptor)
            kinds.add(kind)
        return kinds


def _store_links(pids: Iterable[int], proc: Path) -> Iterator[tuple[Path, str]]:
    for pid in pids:
        try:
            links = list((proc / str(pid) / "fd").iterdir())
        except (FileNotFoundError, ProcessLookupError):
            continue
        for link in links:
            try:
                target = str(link.readlink())
            except FileNotFoundError:
                continue
            for kind in (MEMORY_FILE, FILE_STORE):
                if kind in target:
                    yield link, kind


def count_in(descriptor: int, secret: bytes) -> tuple[int, int]:
    """How often the secret is in a sparse file, and how many bytes of data were read."""
    found = scanned = 0
    for start, end in _data_ranges(descriptor):
        overlap = b""
        position = start
        while position < end:
            chunk = os.pread(descriptor, min(CHUNK_BYTES, end - position), position)
            if not chunk:
                break
            window = overlap + chunk
            found += window.count(secret)
            # Shorter than the secret: nothing is counted twice, nothing on a border is missed.
            overlap = window[max(0, len(window) - len(secret) + 1) :] if len(secret) > 1 else b""
            position += len(chunk)
            scanned += len(chunk)
    return found, scanned


def _data_ranges(descriptor: int) -> Iterator[tuple[int, int]]:
    position = 0
    while True:
        try:
            start = os.lseek(descriptor, position, os.SEEK_DATA)
        except OSError:  # no data after this position
            return
        position = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, position


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
