"""A started job, followed to its end.

Its program runs only after `release`. The end is known from the shim's exit, not from the pipes,
which leftovers can hold open. Signals to end it go to the agent, and only the last resort to the
shim.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from stanchion.protocol.launch import Isolation
from stanchion.supervisor.isolation import processes
from stanchion.supervisor.isolation.channel import Channel
from stanchion.supervisor.isolation.job import Intent, Job, ProcessEnd, judge
from stanchion.supervisor.isolation.reports import Ended, ExecFailed
from stanchion.supervisor.isolation.shim_wire import GO
from stanchion.supervisor.isolation.stdio import Stdio
from stanchion.supervisor.isolation.watch import FIRST_HURRY_S, LAST_HURRY_S, ShimWatch

if TYPE_CHECKING:
    import psutil

EMPTY_TIMEOUT_S = 5.0
"""How long the namespace may take to become empty after its shim is gone (2 ms in gVisor)."""
STOPS_PER_NOTE = 60

SecurityNote = Callable[[str, str], None]
"""Called with what the agent did, one word, and a sentence about it."""


class AgentProcess:
    """One job behind its shim."""

    def __init__(
        self,
        *,
        job: Job,
        checks: Mapping[str, bool],
        pid: int,
        harness_pid: int,
        namespace: str | None,
        channel: Channel,
        stdio: Stdio,
        on_security: SecurityNote,
    ) -> None:
        self.checks = dict(checks)
        """The self-test from inside the agent's namespaces; empty without isolation."""
        self.pid = pid
        """The shim."""
        self.harness_pid = harness_pid
        self.stdout = stdio.stdout
        self.stderr = stdio.stderr
        self._job = job
        self._namespace = namespace
        self._channel = channel
        self._stdio = stdio
        self._on_security = on_security
        self._intent = Intent.NONE
        self._last: Ended | ExecFailed | None = None
        self._end: ProcessEnd | None = None
        self._watch = ShimWatch(
            pid,
            harness_pid,
            on_stopped=self._note_stop,
            on_stopped_after_end=self._kill_leftovers,
            on_restless=self._note_restless,
        )
        channel.closed.add_done_callback(lambda _: self._watch.hurry())

    @property
    def mode(self) -> Isolation:
        """M2 only where every check held."""
        holds = bool(self.checks) and all(self.checks.values())
        return Isolation.M2 if holds else Isolation.NONE

    async def release(self) -> None:
        """Let the program run; a program that cannot be executed shows in `wait`."""
        self._channel.send(GO)
        self._stdio.feed(self._job.stdin)
        self._take(await self._channel.next())

    async def abandon(self) -> None:
        """Never let it run."""
        self._intent = Intent.ABANDONED
        self._channel.abort()
        await self.wait()
        self._stdio.close()

    def terminate(self) -> None:
        """Ask the agent to end; never the shim."""
        self._signal_harness(signal.SIGTERM)

    def kill(self) -> None:
        """End the agent and every process of its namespace."""
        if self._is_over():
            return
        if self._namespace is None:
            # No namespace ends with the shim here; the shim itself sweeps up after the agent.
            os.kill(self.pid, signal.SIGCONT)
            self._signal_harness(signal.SIGKILL)
        else:
            self._intent = Intent.KILLED
            os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> ProcessEnd:
        """Return once the shim is gone and its namespace was looked at."""
        if self._end is None:
            gone = await asyncio.shield(self._watch.gone)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._channel.closed), EMPTY_TIMEOUT_S)
            while report := await self._channel.next():
                self._take(report)
            self._stdio.close_input()
            verdict = judge(self._last, gone.status, self._intent)
            self._end = ProcessEnd(
                wait=verdict.wait,
                why=verdict.why,
                killed_from_inside=verdict.killed_from_inside,
                namespace_empty=await self._is_empty(),
                ended_mono_ms=round(gone.mono_s * 1000),
            )
            if verdict.killed_from_inside:
                self._on_security("shim_killed", verdict.why or "")
        return self._end

    def tree(self) -> "list[psutil.Process]":
        """The agent and its descendants, orphans of it included; without the shim."""
        import psutil

        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def close(self) -> None:
        """Give up output that nobody has read."""
        self._stdio.close()

    def _take(self, report: object) -> None:
        if isinstance(report, Ended | ExecFailed):
            self._last = report

    def _is_over(self) -> bool:
        return self._watch.gone.done() or self._channel.closed.done()

    def _signal_harness(self, number: signal.Signals) -> None:
        entry = None if self._is_over() else processes.look(self.harness_pid)
        if entry is not None and entry.parent == self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.harness_pid, number)

    async def _is_empty(self) -> bool:
        if self._namespace is None:
            return self._last is not None  # the shim reports only after its sweep
        try:
            left = await _left_in(self._namespace)
        except PermissionError as unreadable:
            # A process that may not be looked at could be one of the agent's.
            left = [str(unreadable)]
        if left:
            self._on_security("namespace_not_empty", f"not proved empty: {left}")
        return not left

    def _note_stop(self, count: int) -> None:
        if count % STOPS_PER_NOTE == 1:
            self._on_security("shim_stopped", f"stopped from inside {count} times and continued")

    def _kill_leftovers(self) -> None:
        """With the agent ended, whatever keeps stopping the shim goes first; then it can report."""
        if self._namespace is not None:
            with suppress(PermissionError):
                for pid in processes.inhabitants(self._namespace):
                    if pid != self.pid:
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)

    def _note_restless(self) -> None:
        self._intent = Intent.KILLED_AS_STOPPED


async def _left_in(namespace: str) -> list[str]:
    """Processes of a namespace whose init is gone: none, once they had the time to end."""
    loop = asyncio.get_running_loop()
    until, pause_s = loop.time() + EMPTY_TIMEOUT_S, FIRST_HURRY_S
    while (left := processes.inhabitants(namespace)) and loop.time() < until:
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LAST_HURRY_S)
    return [str(pid) for pid in left]
