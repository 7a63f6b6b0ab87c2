from pathlib import Path

import pytest

from stanchion.supervisor.network_watch import Counters, NetworkWatch, parse, read_counters

SNMP = """\
Ip: Forwarding DefaultTTL OutNoRoutes
Ip: 0 0 0
Icmp: InMsgs
Icmp: 0
IcmpMsg:
IcmpMsg:
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails OutRsts
Tcp: 1 200 120000 -1 1 0 2 1
Udp: InDatagrams NoPorts InErrors
Udp: 0 4 0
UdpLite: InDatagrams NoPorts InErrors
UdpLite: 0 9 0
"""


def test_the_two_counters_are_found() -> None:
    assert parse(SNMP) == Counters(failed=2, resets=1, no_port=4)


@pytest.mark.parametrize("text", ["", "Tcp: AttemptFails\nTcp: 1\n", "Tcp: A\n", SNMP[:180]])
def test_a_file_without_them_says_nothing(text: str) -> None:
    assert parse(text) is None


def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    assert read_counters(tmp_path / "none") is None
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert read_counters(tmp_path / "binary") is None


def test_counters_that_do_not_behave_are_not_believed() -> None:
    """They stand still while the watch itself tries them."""
    watch = NetworkWatch(lambda: Counters(0, 0, 0))
    assert watch.asked().refused is None
    assert watch.asked().why


def test_without_counters_nothing_is_known() -> None:
    assert NetworkWatch(lambda: None).asked().refused is None


class Stack:
    """A network stack that counts as gVisor's does, for what the watch and a test do to it."""

    def __init__(self) -> None:
        self.looks = 0
        self.counters = [
            Counters(5, 2, 7),  # before the trial
            Counters(6, 2, 7),  # one connect without a way out
            Counters(7, 3, 7),  # one refused locally
            Counters(7, 3, 8),  # one datagram to a closed port
            Counters(7, 3, 8),  # where the watch begins
        ]

    def read(self) -> Counters:
        self.looks += 1
        return self.counters[min(self.looks, len(self.counters)) - 1]


@pytest.mark.parametrize(
    ("later", "refused", "words"),
    [
        (Counters(7, 3, 8), False, None),
        (Counters(17, 13, 8), False, None),
        (Counters(7, 9, 8), False, None),
        (Counters(8, 3, 8), True, "1 connects"),
        (Counters(7, 3, 12), True, "4 name queries"),
        (Counters(12, 5, 8), True, "3 connects"),
    ],
)
def test_only_what_no_local_refusal_explains_is_the_network(
    later: Counters, refused: bool, words: str | None
) -> None:
    """Needs no route to the documentation's addresses, so the real trial is done elsewhere."""
    stack = Stack()
    watch = NetworkWatch(stack.read, behave=lambda read: [read() for _ in range(4)] != [])
    stack.counters = [later]
    stack.looks = 0
    asked = watch.asked()
    assert asked.refused is refused
    assert (words or "") in (asked.why or "")
