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
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails
Tcp: 1 200 120000 -1 1 0 2
Udp: InDatagrams NoPorts InErrors
Udp: 0 4 0
UdpLite: InDatagrams NoPorts InErrors
UdpLite: 0 9 0
"""


def test_the_two_counters_are_found() -> None:
    assert parse(SNMP) == Counters(no_route=2, no_port=4)


@pytest.mark.parametrize("text", ["", "Tcp: AttemptFails\nTcp: 1\n", "Tcp: A\n", SNMP[:200]])
def test_a_file_without_them_says_nothing(text: str) -> None:
    assert parse(text) is None


def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    assert read_counters(tmp_path / "none") is None
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert read_counters(tmp_path / "binary") is None


def test_counters_that_do_not_behave_are_not_believed() -> None:
    """They stand still while the watch itself tries them."""
    watch = NetworkWatch(lambda: Counters(0, 0))
    assert watch.asked().refused is None
    assert watch.asked().why


def test_without_counters_nothing_is_known() -> None:
    assert NetworkWatch(lambda: None).asked().refused is None
