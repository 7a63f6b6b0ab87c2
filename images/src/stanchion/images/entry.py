"""One finished piece on disk: built once, by one process, whole or not at all.

An entry is a folder with `tree/` (the piece) and `record.json` (what it must hold). It appears by
one rename, so a crash leaves nothing half. A piece whose files changed after it was stored is
refused; nothing here repairs or silently replaces it.
"""

import fcntl
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.images import tree
from stanchion.images.errors import ImagesError, IntegrityError

_ESCAPED = re.compile(rb"\\([0-7]{3})")
"""A space or the like in a path of /proc."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was stored, written beside it."""

    version: int = 1
    digest: str
    """The public digest of the piece."""
    content: str
    """Digest over all in `tree/` but its folders, for checking it again."""
    stamp: str
    size_bytes: int
    notes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored piece."""

    path: Path
    digest: str
    size_bytes: int
    notes: dict[str, str]
    cached: bool


@dataclass(frozen=True, slots=True)
class Built:
    """What a builder says about the tree it has just filled."""

    digest: str | None = None
    """None: the digest over the content is the public one."""
    notes: dict[str, str] | None = None


def ensure(folder: Path, build: Callable[[Path], Built]) -> Entry:
    """Return the stored piece, building it first where it is missing."""
    if found := load(folder):
        return found
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f".{folder.name}.lock"):
        return load(folder) or _build(folder, build)


def load(folder: Path) -> Entry | None:
    """The stored piece, checked against its record; None where there is none."""
    try:
        record = msgspec.json.decode((folder / "record.json").read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as broken:
        raise _changed(folder, f"its record cannot be read ({broken})") from broken
    root = folder / "tree"
    now = tree.stamp(root) if root.is_dir() else ""
    if now != record.stamp:
        _check_content(folder, record, now)
    return Entry(root, record.digest, record.size_bytes, record.notes, cached=True)


def forget_unused(shelf: Path, pattern: str, *, unused_for_s: float, now_s: float) -> list[Path]:
    """Remove stored pieces that nobody has asked for in a long time."""
    forgotten = []
    for folder in sorted(shelf.glob(pattern)):
        with suppress(OSError, ImagesError):
            if now_s - (folder / "record.json").stat().st_mtime > unused_for_s:
                remove(folder)
                forgotten.append(folder)
    return forgotten


def mark_used(folder: Path, *, now_s: float) -> None:
    """Remember that a piece was asked for; a cache that cannot be written is never tidied."""
    with suppress(OSError):
        os.utime(folder / "record.json", (now_s, now_s))


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold a lock file that other processes honour; it is freed even by a crash."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that a reader sees the old or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as target:
        target.write(content)
        target.flush()
        os.fsync(target.fileno())
    temporary.replace(path)


def remove(folder: Path) -> None:
    """Take a folder away; one that is already gone is fine.

    Nothing is removed where something is mounted in it: that may be anything.
    """
    mounted = _mounted_in(folder)
    if mounted:
        fix = shlex.join(["umount", *map(str, reversed(mounted))])
        raise ImagesError(
            f"{folder} cannot be removed: {mounted[-1]} is mounted in it, as a build leaves it "
            f"that was killed; run `{fix}`",
            fix=fix,
        )
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _mounted_in(folder: Path) -> list[Path]:
    """In the order in which they were mounted (proc_pid_mountinfo(5)); none where Linux is not."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except FileNotFoundError:
        return []
    points = (line.split(b" ")[4] for line in lines)
    plain = (_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), point) for point in points)
    inside = (Path(os.fsdecode(point)) for point in plain)
    return [point for point in inside if point.is_relative_to(folder.resolve())]


def _build(folder: Path, build: Callable[[Path], Built]) -> Entry:
    # The lock is ours, so whatever bears this name was left by a process that died.
    workplace = folder.parent / f".{folder.name}.building"
    remove(workplace)
    workplace.mkdir()
    workplace.chmod(0o755)
    try:
        root = workplace / "tree"
        root.mkdir()
        root.chmod(0o755)
        with _readable():
            built = build(root)
            content = tree.items(root)
            record = Record(
                digest=built.digest or tree.digest(content),
                content=tree.digest(tree.without_folders(content)),
                stamp=tree.stamp(root),
                size_bytes=tree.size_bytes(content),
                notes=built.notes or {},
            )
            write_atomically(workplace / "record.json", _encode(record))
        remove(folder)
        workplace.rename(folder)
    finally:
        remove(workplace)
    return Entry(folder / "tree", record.digest, record.size_bytes, record.notes, cached=False)


@contextmanager
def _readable() -> Iterator[None]:
    """Modes do not depend on who builds: an agent that is not root must read what root made."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def _check_content(folder: Path, record: Record, now: str) -> None:
    root = folder / "tree"
    if not now or tree.digest(tree.without_folders(tree.items(root))) != record.content:
        raise _changed(folder, "its files are not the ones that were stored")
    # Same content, other times or inodes (a copied cache): remember them. A read-only cache that
    # cannot be written is read in full each time instead.
    with suppress(OSError):
        fresh = msgspec.structs.replace(record, stamp=now)
        write_atomically(folder / "record.json", _encode(fresh))


def _encode(record: Record) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def _changed(folder: Path, why: str) -> IntegrityError:
    fix = f"rm -r {folder}"
    return IntegrityError(
        f"the stored piece {folder} was changed after it was stored: {why}; "
        f"find out by whom, then remove it with `{fix}` and run the command again",
        fix=fix,
    )
