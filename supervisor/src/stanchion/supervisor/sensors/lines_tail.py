"""Tails the text files that a harness appends lines to, read-only and never whole.

Which files there will be is not known before they are there, so the folder is listed again with
every look: by plain listings, few folders deep and with a bound on their number. The files are the
agent's to write: links and other things than files are passed by, lines and reads are bounded, and
a file that became shorter is not read again.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.harness_adapters.base import LinesStore
from stanchion.supervisor.regular_files import NotRegularError, open_folder, open_regular
from stanchion.supervisor.sensors.stdout import Lines
from stanchion.supervisor.sensors.store import ROWS_A_LOOK, Rows, Stamp

MOST_FILES = 64
MOST_ENTRIES = 4096
"""Of all folders together; what lies behind them is not seen."""
READ_BYTES = 256 * 1024
MOST_BYTES_A_LOOK = 8 * 1024 * 1024


@dataclass(slots=True)
class _File:
    """How far one file was read."""

    offset: int = 0
    lines: Lines = field(default_factory=Lines)
    waiting: list[bytes] = field(default_factory=list)
    """Whole lines that did not fit into the look that read them."""


class LinesTail:
    """The reader of one store; a call may raise OSError, which means unknown."""

    def __init__(self, store: LinesStore) -> None:
        self._folder = Path(store.folder)
        self._suffix = store.suffix
        self._depth = store.depth
        self._files: dict[Path, _File] = {}

    @property
    def files(self) -> tuple[Path, ...]:
        """What is worth being told of: the files there are; before that nothing can be watched."""
        return tuple(self._files) or (self._folder / "none-yet" / "none-yet",)

    def stamp(self) -> Stamp:
        """Changes whenever a file came or was written; a look at the file system only."""
        count = size = newest = 0
        for path in self._found():
            try:
                status = path.lstat()
            except OSError:
                continue
            count, size = count + 1, size + status.st_size
            newest = max(newest, status.st_mtime_ns)
        return (count, size, newest, 0) if count else None

    def look(self, *, writer_gone: bool = False) -> Rows:
        """New lines, at most ROWS_A_LOOK; fewer only where there are no more."""
        rows: list[tuple[str, str]] = []
        budget = MOST_BYTES_A_LOOK
        for path in self._found():
            file = self._files.setdefault(path, _File())
            budget -= self._read(path, file, budget, writer_gone=writer_gone)
            name = path.relative_to(self._folder).as_posix()
            room = ROWS_A_LOOK - len(rows)
            taken, file.waiting = file.waiting[:room], file.waiting[room:]
            rows += [(name, line.decode("utf-8", "replace")) for line in taken]
            if len(rows) == ROWS_A_LOOK:
                break
        return rows

    def close(self) -> None:
        """Nothing is held open between two looks."""

    def _read(self, path: Path, file: _File, budget: int, *, writer_gone: bool) -> int:
        """Take what is new in the file; how many bytes were read."""
        if file.waiting or budget <= 0:
            return 0
        try:
            descriptor = open_regular(path)
        except (FileNotFoundError, NotRegularError):
            return 0
        taken = 0
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            stream.seek(file.offset)
            while len(file.waiting) < ROWS_A_LOOK and taken < budget:
                data = stream.read(READ_BYTES)
                if not data:
                    if writer_gone:
                        file.waiting += file.lines.end()
                        file.lines = Lines()
                    break
                taken += len(data)
                file.offset += len(data)
                file.waiting += file.lines.feed(data)
        return taken

    def _found(self) -> list[Path]:
        """The store's files in the order of their names, those known first: they are not lost."""
        known = list(self._files)
        new = sorted(path for path in self._listed() if path not in self._files)
        return (known + new)[:MOST_FILES]

    def _listed(self) -> Iterator[Path]:
        folders, left = [(self._folder, 0)], MOST_ENTRIES
        try:
            os.close(open_folder(self._folder))
        except (FileNotFoundError, NotRegularError):
            return
        while folders and left > 0:
            folder, depth = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        left -= 1
                        mode = entry.stat(follow_symlinks=False).st_mode
                        if stat.S_ISDIR(mode) and depth < self._depth:
                            folders.append((Path(entry.path), depth + 1))
                        elif stat.S_ISREG(mode) and entry.name.endswith(self._suffix):
                            yield Path(entry.path)
                        if left <= 0:
                            return
            except OSError:
                continue  # it is gone again, or not for us
