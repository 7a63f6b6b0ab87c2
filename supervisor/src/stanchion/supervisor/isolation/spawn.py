"""Starts the shim's program with the agent's pipes and its own socket, and nothing else.

posix_spawn: no Python code runs in a forked copy of the supervisor, so its threads, locks, memory
and open files stay its own.
"""

import fcntl
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

_ABOVE_TARGETS = 10
"""Descriptors are moved up here first, so that none is overwritten before it is used."""
SHIM = Path(__file__).with_name("shim.py")
"""The program that is executed for every job."""


@dataclass(frozen=True, slots=True)
class Spawned:
    """The new process and the supervisor's ends of what connects them."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    channel: socket.socket


def spawn_shim(interpreter: Sequence[str] = (sys.executable,)) -> Spawned:
    """Start the shim; it waits for its order."""
    command = [*interpreter, "-I", "-S", "-B", "-X", "utf8", str(SHIM)]
    with ExitStack() as on_failure, ExitStack() as childs:
        stdin, feed = _pipe(childs, on_failure)
        drain_out, stdout = _pipe(on_failure, childs)
        drain_err, stderr = _pipe(on_failure, childs)
        ours, theirs = socket.socketpair()
        on_failure.callback(ours.close)
        with theirs:
            channel = _moved_up(theirs.fileno(), childs)
        pid = os.posix_spawn(
            command[0],
            command,
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, source, target)
                for target, source in enumerate((stdin, stdout, stderr, channel))
            ],
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )
        on_failure.pop_all()
    return Spawned(pid, feed, drain_out, drain_err, ours)


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    moved = _moved_up(ends[0], reader), _moved_up(ends[1], writer)
    for end in ends:
        os.close(end)
    return moved


def _moved_up(descriptor: int, owner: ExitStack) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE_TARGETS)
    owner.callback(os.close, moved)
    return moved
