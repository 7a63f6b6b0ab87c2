"""Calls back when a file of interest was written, made, moved or removed.

The folder that the file is in is watched, not the file: it may not be there yet. Where a folder
cannot be watched, or not yet, `follow` says so and the caller looks by itself; it asks again with
each of its looks. However much is written there, the queue is read once every `gap_s` at most.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from stanchion.supervisor.regular_files import open_folder
from stanchion.supervisor.sensors import inotify

GAP_S = 0.05
ENDS = inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.IGNORED | inotify.UNMOUNT
"""After these, what happens at the folder's path is no longer told."""

OnChange = Callable[[], None]


class FileChanges:
    """One attempt's. From the first `follow` on it needs the running event loop."""

    def __init__(self, *, gap_s: float = GAP_S) -> None:
        self._gap_s = gap_s
        self._watches: dict[Path, int] = {}
        """Of each folder; two ways to one folder have the same watch."""
        self._followers: dict[Path, OnChange] = {}
        self._pause: asyncio.TimerHandle | None = None
        self._queue: inotify.Inotify | None = None
        self._asked = False

    def follow(self, path: Path, on_change: OnChange) -> bool:
        """Whether changes of this file are told from now on. Costs nothing where they are."""
        self._followers[path] = on_change
        if path.parent in self._watches:
            return True
        queue = self._open()
        if queue is None:
            return False
        try:
            folder = open_folder(path.parent)
            try:
                self._watches[path.parent] = queue.watch(folder)
            finally:
                os.close(folder)
        except OSError:
            return False
        return True

    def renew(self, path: Path) -> None:
        """Drop the watch of this file's folder; the next `follow` makes another."""
        watch = self._watches.get(path.parent)
        if watch is not None and self._queue is not None:
            self._queue.forget(watch)
            self._lose(watch)

    def close(self) -> None:
        """Nobody is called after this."""
        queue, self._queue = self._queue, None
        if queue is None:
            return
        if self._pause is not None:
            self._pause.cancel()
        asyncio.get_running_loop().remove_reader(queue.file)
        self._watches.clear()
        queue.close()

    def _open(self) -> inotify.Inotify | None:
        """The queue, opened once; None where the kernel has none for us."""
        if not self._asked:
            self._asked = True
            try:
                self._queue = inotify.Inotify()
            except OSError:
                return None
            asyncio.get_running_loop().add_reader(self._queue.file, self._read)
        return self._queue

    def _read(self) -> None:
        if self._queue is None:
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._queue.file)
        self._pause = loop.call_later(self._gap_s, self._resume)
        changes = self._queue.read()
        changed = self._changed(changes)
        for change in changes:
            if change.kind & inotify.MOVE_SELF:
                self._queue.forget(change.watch)
            if change.kind & ENDS:
                self._lose(change.watch)
        for path in changed:
            self._followers[path]()

    def _changed(self, changes: list[inotify.Change]) -> list[Path]:
        """Files that somebody follows, each once; all of a folder whose watch has ended."""
        if any(change.kind & inotify.OVERFLOW for change in changes):
            return list(self._followers)
        told = {(change.watch, change.name) for change in changes}
        return [
            path
            for path in self._followers
            if (watch := self._watches.get(path.parent)) is not None
            and ((watch, path.name) in told or (watch, "") in told)
        ]

    def _lose(self, watch: int) -> None:
        for folder in [folder for folder, known in self._watches.items() if known == watch]:
            del self._watches[folder]

    def _resume(self) -> None:
        if self._queue is not None:
            asyncio.get_running_loop().add_reader(self._queue.file, self._read)
