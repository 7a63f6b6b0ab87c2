"""Idle connections of one provider identity, kept for its next request.

It decides which connection may carry another request: none that is closed, has spoken out of turn,
has been idle for longer than the shortest keep-alive of common servers, or is old. One pool belongs
to one account of one profile; it must never hand a connection to anybody else. Whether an answer
left its connection clean is for `upstream` to say.

Sources: RFC 9112, 9.2 (bytes without a request are no response), 9.3 (persistence), 9.5 (a server
may close at any time); servers close idle connections after 5 s by default (uvicorn and so vLLM,
Node.js), nginx after 75 s.
"""

import asyncio
import select
from dataclasses import dataclass

_SPOKEN = select.POLLIN | select.POLLPRI | select.POLLRDHUP
"""Something to read: bytes nobody asked for, or the end."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """How long and how many."""

    idle_s: float = 4.0
    """Below the 5 s after which common servers close: a request must not meet the closing."""
    age_s: float = 300.0
    """So that a change of address, certificate or key is seen."""
    idle_connections: int = 256


@dataclass(slots=True)
class Line:
    """An open connection and when it was opened, on the loop's clock."""

    transport: asyncio.Transport
    opened_at: float
    _watch: "select.poll | None" = None
    """Kept for as long as the connection, whose descriptor stays the same."""

    @property
    def descriptor(self) -> int | None:
        """Of its socket; None = there is none, or it is closed."""
        connection = self.transport.get_extra_info("socket")
        number = -1 if connection is None else connection.fileno()
        return None if number < 0 else int(number)

    def has_spoken(self) -> bool:
        """Asks the kernel: what it has received may not have reached the loop yet."""
        if self._watch is None:
            descriptor = self.descriptor
            if descriptor is None:
                return True
            self._watch = select.poll()
            self._watch.register(descriptor, _SPOKEN)
        return bool(self._watch.poll(0))


class Pool:
    """Last in, first out: what is not needed grows old and goes."""

    def __init__(self, limits: PoolLimits = PoolLimits()) -> None:
        self._limits = limits
        self._parked: list[_Parked] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def _now(self) -> float:
        """By the clock of the loop; which one that is, is asked once: it costs a system call."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop.time()

    @property
    def idle(self) -> int:
        """Connections that wait."""
        return len(self._parked)

    def take(self) -> Line | None:
        """A connection that is open and silent; None = open one."""
        while self._parked:
            parked = self._parked.pop()
            if parked.usable(self._now()):
                return parked.line
            parked.line.transport.abort()
        return None

    def park(self, line: Line, idle_s: float | None = None) -> bool:
        """Keep a connection for at most `idle_s`, if there is room; False = it is not kept."""
        now = self._now()
        keep_s = min(self._limits.idle_s, self._limits.idle_s if idle_s is None else idle_s)
        until = min(now + keep_s, line.opened_at + self._limits.age_s)
        full = len(self._parked) >= self._limits.idle_connections
        if self._closed or full or until <= now or line.descriptor is None:
            return False  # what has been said on it meanwhile shows when it is taken
        parked = _Parked(self, line, until)
        line.transport.set_protocol(parked)
        line.transport.resume_reading()
        self._parked.append(parked)
        self._schedule()
        return True

    def drop(self, parked: "_Parked") -> None:
        """It closed or spoke while it waited."""
        if parked in self._parked:
            self._parked.remove(parked)
        parked.line.transport.abort()

    def close(self) -> None:
        """Drop all that wait, and keep nothing from now on."""
        self._closed = True
        for parked in list(self._parked):
            self.drop(parked)
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self) -> None:
        if self._timer is None and self._parked:
            first = min(parked.until for parked in self._parked)
            self._timer = asyncio.get_running_loop().call_at(first, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = self._now()
        for parked in [parked for parked in self._parked if parked.until <= now]:
            self.drop(parked)
        self._schedule()


class _Parked(asyncio.Protocol):
    """Nothing may come on a connection that waits, not even its end."""

    def __init__(self, pool: Pool, line: Line, until: float) -> None:
        self._pool = pool
        self.line = line
        self.until = until

    def usable(self, now: float) -> bool:
        closing = self.line.transport.is_closing()
        return now < self.until and not closing and not self.line.has_spoken()

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 - whatever it is
        self._pool.drop(self)

    def eof_received(self) -> None:
        self._pool.drop(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._pool.drop(self)
