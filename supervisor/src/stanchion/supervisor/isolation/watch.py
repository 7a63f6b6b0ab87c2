"""Watches a shim: reaps it when it ends, continues it when the agent has stopped it.

The end is noticed by the channel's closing, at once, with a look each second as the backstop. Only
the shim's own number is waited for, so nobody else's children are reaped here.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from stanchion.supervisor.isolation import processes

LOOK_EVERY_S = 1.0
FIRST_HURRY_S, LAST_HURRY_S = 0.001, 0.05
MAX_STOPS_AFTER_END = 5
"""Looks in a row at a stopped shim whose agent has ended before it is killed."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The end of a shim."""

    status: int | None
    """Its raw wait status; None = nobody could say."""
    mono_s: float


class ShimWatch:
    """Owns the waiting for one shim."""

    def __init__(
        self,
        pid: int,
        harness_pid: int,
        *,
        on_stopped: Callable[[int], None],
        on_stopped_after_end: Callable[[], None],
        on_restless: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.pid = pid
        self._harness_pid = harness_pid
        self.gone: asyncio.Future[Gone] = self._loop.create_future()
        self._on_stopped = on_stopped
        self._on_stopped_after_end = on_stopped_after_end
        self._on_restless = on_restless
        self._stops = 0
        self._stops_after_end = 0
        self._timer = self._loop.call_later(LOOK_EVERY_S, self._look, LOOK_EVERY_S)

    def hurry(self) -> None:
        """Its end is certain or near: look now, and soon again until it is over."""
        self._look(FIRST_HURRY_S)

    def _look(self, again_s: float) -> None:
        self._timer.cancel()
        if self.gone.done():
            return
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            self.gone.set_result(Gone(None, self._loop.time()))
            return
        if pid and not os.WIFSTOPPED(status):
            self.gone.set_result(Gone(status, self._loop.time()))
            return
        if pid:
            self._continue()
        else:
            self._stops_after_end = 0
        next_s = again_s if again_s == LOOK_EVERY_S else min(again_s * 2, LAST_HURRY_S)
        self._timer = self._loop.call_later(again_s, self._look, next_s)

    def _continue(self) -> None:
        self._stops += 1
        self._on_stopped(self._stops)
        if not processes.is_running(self._harness_pid):
            self._stops_after_end += 1
            self._on_stopped_after_end()
        if self._stops_after_end >= MAX_STOPS_AFTER_END:
            self._on_restless()
            os.kill(self.pid, signal.SIGKILL)
        os.kill(self.pid, signal.SIGCONT)
