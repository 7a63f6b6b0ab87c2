"""Brings a job to the point where only the word to go is missing; whatever fails before leaves
nothing behind and is an IsolationError.
"""

import asyncio
import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from stanchion.protocol.launch import Isolation
from stanchion.supervisor.isolation import processes, reports, syscalls
from stanchion.supervisor.isolation.channel import Channel
from stanchion.supervisor.isolation.job import IsolationError, Job
from stanchion.supervisor.isolation.process import AgentProcess, SecurityNote
from stanchion.supervisor.isolation.shim_wire import Order, WireError, encode_order
from stanchion.supervisor.isolation.spawn import SHIM, Spawned, spawn_shim
from stanchion.supervisor.isolation.stdio import Stdio

START_TIMEOUT_S = 30.0
"""0.1 s in a quiet gVisor; this is for a machine in trouble."""

_R = TypeVar("_R", bound=reports.Report)


async def start(
    job: Job,
    *,
    on_security: SecurityNote | None = None,
    interpreter: Sequence[str] = (sys.executable,),
) -> AgentProcess:
    """Isolate and check; the job's program waits for `release`.

    `interpreter` starts the shim: a bundle outside its place needs its own loader before it.
    """
    order = _encoded(job)
    if job.isolation is Isolation.M2 and os.getpid() != 1:
        syscalls.become_subreaper()
    spawned = _spawned(interpreter)
    stdio = Stdio(spawned)
    alive = [spawned.pid]
    channel = Channel()
    with _nothing_left(alive, channel, spawned.channel, stdio):
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: channel, sock=spawned.channel)
        await stdio.connect()
        channel.send(order)
        async with asyncio.timeout(START_TIMEOUT_S):
            if job.isolation is Isolation.M2:
                alive.append((await _expect(channel, reports.Born)).pid)
            checked = await _expect(channel, reports.Checked)
        if job.isolation is Isolation.M2:
            _reap_helper(alive.pop(0))
        shim = alive[0]
        return AgentProcess(
            job=job,
            checks=checked.checks,
            pid=shim,
            harness_pid=_only_child(shim) if job.isolation is Isolation.M2 else checked.harness,
            namespace=_own_namespace(shim) if job.isolation is Isolation.M2 else None,
            channel=channel,
            stdio=stdio,
            on_security=on_security or (lambda _what, _detail: None),
        )


def _encoded(job: Job) -> bytes:
    try:
        return encode_order(
            Order(
                argv=job.argv,
                env=dict(job.env),
                cwd=job.cwd,
                uid=job.uid,
                isolated=job.isolation is Isolation.M2,
                hidden=job.hidden,
                pinned=(sys.prefix, str(SHIM.parent)),
                sockets=tuple(path for folder in job.hidden for path in _sockets(folder)),
            )
        )
    except WireError as wrong:
        raise IsolationError(f"the job cannot be passed on: {wrong}") from wrong
    except OSError as missing:
        raise IsolationError(
            f"a folder to hide cannot be read: {missing}; it must exist before the start"
        ) from missing


def _spawned(interpreter: Sequence[str]) -> Spawned:
    try:
        return spawn_shim(interpreter)
    except OSError as failed:
        raise IsolationError(
            f"the shim cannot be started by {interpreter[0]}: {failed}"
        ) from failed


def _sockets(folder: str) -> list[str]:
    return [str(path) for path in Path(folder).iterdir() if stat.S_ISSOCK(path.lstat().st_mode)]


async def _expect(channel: Channel, kind: type[_R]) -> _R:
    report = await channel.next()
    if isinstance(report, kind):
        return report
    if isinstance(report, reports.Failed):
        raise IsolationError(f"the agent could not be isolated: {report.call}")
    if report is None:
        raise IsolationError(f"the shim ended before it reported {kind.__name__.lower()}")
    raise IsolationError(f"the shim reported {report} instead of {kind.__name__.lower()}")


def _reap_helper(pid: int) -> None:
    # It exited when it had reported the shim, long before the shim reported its checks.
    os.waitpid(pid, 0)


def _only_child(shim: int) -> int:
    found = processes.children(shim)
    if len(found) != 1:
        raise IsolationError(f"the shim has {len(found)} children before the start instead of one")
    return found[0]


def _own_namespace(shim: int) -> str:
    namespace = processes.pid_namespace(shim)
    if namespace is None or namespace == processes.pid_namespace(os.getpid()):
        raise IsolationError("the shim is not in a PID namespace of its own")
    return namespace


@contextmanager
def _nothing_left(
    alive: list[int], channel: Channel, unconnected: socket.socket, stdio: Stdio
) -> Iterator[None]:
    try:
        yield
    except BaseException as failed:
        channel.abort()
        if not channel.is_connected:
            unconnected.close()
        stdio.close()
        for pid in alive:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if isinstance(failed, TimeoutError):
            raise IsolationError(
                f"the agent was not isolated within {START_TIMEOUT_S:.0f} s"
            ) from failed
        if isinstance(failed, OSError) and not isinstance(failed, IsolationError):
            raise IsolationError(f"the agent could not be isolated: {failed}") from failed
        raise
