"""Whether anything asked for a network while the tests ran, by the counters of the sandbox's stack.

Sees TCP connects that found no way out, and datagrams to a local port where nobody listens, which
is how a name is asked for where no resolver is configured. Cannot see who asked, nor a datagram to
an outside address; a reset connection hides one connect, so that refusals of local servers never
look like the network. Passive: it takes no port, writes no file, delays nobody. The counters are
tried before they are believed; where they do not behave, the answer is None.
"""

import errno
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SNMP = Path("/proc/net/snmp")
OUTSIDE = ("192.0.2.1", 9)
"""Reserved for documentation (RFC 5737): there is nobody, and without a network no way to it."""
NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH})
LOCAL_S = 0.5


@dataclass(frozen=True, slots=True)
class Counters:
    """What the stack has counted since it began."""

    failed: int
    """`Tcp: AttemptFails`; in gVisor connects without a route and blocking ones refused locally."""
    resets: int
    """`Tcp: OutRsts`; one for each connect refused locally, and some others."""
    no_port: int
    """`Udp: NoPorts`."""

    @property
    def no_route(self) -> int:
        """At least so many connects had no way out, up to a constant."""
        return self.failed - self.resets


Read = Callable[[], Counters | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What was seen. `refused` None = it could not be observed."""

    refused: bool | None
    why: str | None


def read_counters(path: Path) -> Counters | None:
    """The counters in a file of the form of /proc/net/snmp; None where they are not there."""
    try:
        return parse(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def parse(text: str) -> Counters | None:
    """Two lines a protocol: the names, then the values."""
    found: dict[str, int] = {}
    lines = text.splitlines()
    for names, values in pairwise(lines):
        protocol, _, inner = names.partition(":")
        same, _, numbers = values.partition(":")
        if protocol == same:
            for name, number in zip(inner.split(), numbers.split(), strict=False):
                if number.lstrip("-").isdecimal():
                    found[f"{protocol}.{name}"] = int(number)
    try:
        return Counters(found["Tcp.AttemptFails"], found["Tcp.OutRsts"], found["Udp.NoPorts"])
    except KeyError:
        return None


def _behave(read: Read) -> bool:
    """Whether each counter rises for what it stands for, and only for that."""
    try:
        return _tried(read)
    except OSError:
        return False


def _tried(read: Read) -> bool:
    first = read()
    if first is None:
        return False
    with closing(socket.socket()) as outside:
        outside.setblocking(False)
        if outside.connect_ex(OUTSIDE) not in NO_WAY:
            return False
    routed = read()
    with closing(socket.socket()) as owner, closing(socket.socket()) as caller:
        owner.bind(("127.0.0.1", 0))  # bound and not listening: a connect is refused
        # Blocking, since only such a one is counted as failed; on loopback it is answered at once.
        if caller.connect_ex(owner.getsockname()) != errno.ECONNREFUSED:
            return False
        closed_port = owner.getsockname()
    refused = read()
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as sender:
        sender.sendto(b"", closed_port)
    asked = read()
    if routed is None or refused is None or asked is None:
        return False
    return (
        routed.no_route == first.no_route + 1
        and refused.no_route == routed.no_route
        and refused.no_port == first.no_port
        and asked.no_port == refused.no_port + 1
    )


class NetworkWatch:
    """From its making to `asked`."""

    def __init__(
        self, read: Read | None = None, *, behave: Callable[[Read], bool] = _behave
    ) -> None:
        self._read = read or (lambda: read_counters(SNMP))
        self._before = self._read() if behave(self._read) else None

    def asked(self) -> Asked:
        """What was counted since."""
        after = self._read()
        if self._before is None or after is None:
            return Asked(None, "this network stack's counters do not tell")
        connects = max(0, after.no_route - self._before.no_route)
        datagrams = after.no_port - self._before.no_port
        if not connects and not datagrams:
            return Asked(False, None)
        why = f"{connects} connects without a way out, {datagrams} name queries without an answer"
        return Asked(True, why)
