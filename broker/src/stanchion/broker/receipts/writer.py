"""One thread that owns one SQLite connection for writing, and commits in groups.

Callers on the event loop hand over a change and await a future that is set once the change is
committed. The changes of one turn of the loop cross to the thread together, and whatever waits
when a commit ends goes into the next one, so a single change pays one commit and a crowd shares
one. Whoever knows of a crowd may have commits begin some time apart, so that more come along. A
change that cannot be made durable fails its future; the writer never answers for a change that it
did not commit.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

Change = Callable[[sqlite3.Connection], None]
"""One statement, so that a change that breaks a rule of the tables leaves nothing behind."""

Insert = Callable[[sqlite3.Connection, list[Any]], list[Exception | None]]
"""Rows of one kind that follow each other, in one statement; what is wrong with each, or None.
Every statement is a switch between the threads, and rows come by the thousand."""

MAX_GROUP = 2000
"""Changes in one commit at most, so that the first of a crowd does not wait for all of it."""


class LedgerError(Exception):
    """Something could not be made durable, or may not be written any more."""


class _Job(NamedTuple):
    change: Change | None
    done: "asyncio.Future[None]"
    insert: Insert | None = None
    row: object = None


_Settled = list[tuple["asyncio.Future[None]", Exception | None]]


class Writer:
    """Changes in, committed in the order they came. Made and used on one event loop."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        name: str,
        on_rollback: Callable[[], None] | None = None,
        spacing_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`on_rollback` is called by the thread when changes that were made are taken back.

        `spacing_s`: how long after a commit began the next one may, by what is under way now.
        """
        self._connection = connection
        self._name = name
        self._on_rollback = on_rollback
        self._loop = asyncio.get_running_loop()
        self._turn: list[_Job] = []
        """Of this turn of the loop. Each crossing to the thread costs a switch between the two."""
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._taken: deque[_Job] = deque()
        """By the thread, and in no group yet."""
        self.rows = 0
        """How many were committed. Counted by the thread."""
        self._spacing_s = spacing_s
        self._closed = False
        self._closing = threading.Event()
        """Ends the wait for company."""
        self._thread = threading.Thread(target=self._run, name=f"{name} writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change) -> "asyncio.Future[None]":
        """Queue a change now; the future is set when it is durable. Order is the order of calls.

        A caller that is cancelled while it waits does not take its change back.
        """
        return self._queue(_Job(change, self._loop.create_future()))

    def submit_row(self, insert: Insert, row: object) -> "asyncio.Future[None]":
        """The same for a row; those of one kind go into one statement."""
        return self._queue(_Job(None, self._loop.create_future(), insert, row))

    def _queue(self, job: _Job) -> "asyncio.Future[None]":
        if self._closed:
            raise LedgerError(f"{self._name} is closed: nothing more can be written")
        if not self._turn:
            self._loop.call_soon(self._hand_over)
        self._turn.append(job)
        return job.done

    def _hand_over(self) -> None:
        if self._turn:
            turn, self._turn = self._turn, []
            self._jobs.put(turn)

    async def aclose(self) -> None:
        """Commit what waits, then close the connection."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._jobs.put(None)
            self._closing.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        last = False
        while not last:
            group, last = self._next_group()
            if group:
                began = time.monotonic()
                settled = self._commit(group)
                self._loop.call_soon_threadsafe(_settle, settled)
                self._closing.wait(began + self._spacing_s() - time.monotonic())
        self._connection.close()

    def _next_group(self) -> tuple[list[_Job], bool]:
        """The next change and all that wait behind it; True = the writer was closed."""
        last = False
        try:
            turn = [] if self._taken else self._jobs.get()
            while turn is not None:
                self._taken.extend(turn)
                turn = self._jobs.get_nowait()
            last = True
        except queue.Empty:
            pass
        group = [self._taken.popleft() for _ in range(min(len(self._taken), MAX_GROUP))]
        if last and self._taken:
            self._jobs.put(None)  # again, behind them
        return group, last and not self._taken

    def _commit(self, group: list[_Job]) -> _Settled:
        settled: _Settled = []
        try:
            for insert, jobs in groupby(group, key=_insert_of):
                settled += self._made(insert, list(jobs))
            self._connection.commit()
        except sqlite3.OperationalError as error:
            self._roll_back()
            return [(job.done, self._refusal(error)) for job in group]
        made = zip(group, settled, strict=True)
        self.rows += sum(job.insert is not None and error is None for job, (_, error) in made)
        return settled

    def _made(self, insert: Insert | None, jobs: list[_Job]) -> _Settled:
        """Make changes; an error that is a change's own fault fails it alone."""
        if insert is None:
            changes = [(job, job.change) for job in jobs if job.change is not None]
            return [(job.done, self._attempted(change)) for job, change in changes]
        wrong: list[Exception | None] = []

        def change(db: sqlite3.Connection) -> None:
            wrong.extend(insert(db, [job.row for job in jobs]))

        failed = self._attempted(change)
        if failed is not None:
            wrong = [failed] * len(jobs)
        return [(job.done, error) for job, error in zip(jobs, wrong, strict=True)]

    def _attempted(self, change: Change) -> Exception | None:
        try:
            change(self._connection)
        except sqlite3.OperationalError:
            raise
        except sqlite3.Error as error:
            return self._refusal(error)
        except Exception as error:  # noqa: BLE001 - goes to the caller; the thread must live on
            return error
        return None

    def _roll_back(self) -> None:
        if self._on_rollback is not None:
            self._on_rollback()
        try:
            self._connection.rollback()
        except sqlite3.OperationalError:
            # SQLite has already rolled back by itself (a full disk does that).
            return

    def _refusal(self, error: sqlite3.Error) -> LedgerError:
        return LedgerError(
            f"{self._name} could not be written ({error}): check the space and rights of its folder"
        )


def _insert_of(job: _Job) -> Insert | None:
    return job.insert


def _settle(settled: _Settled) -> None:
    for done, error in settled:
        if done.cancelled():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
