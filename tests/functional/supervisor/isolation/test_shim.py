"""The shim's program by itself, spoken to over its socket."""

import os
import socket
from collections.abc import Iterator

import pytest

from stanchion.supervisor.isolation import reports
from stanchion.supervisor.isolation.shim_wire import GO, Order, encode_order
from stanchion.supervisor.isolation.spawn import Spawned, spawn_shim


@pytest.fixture
def shim() -> Iterator[Spawned]:
    spawned = spawn_shim()
    spawned.channel.settimeout(30)
    try:
        yield spawned
    finally:
        spawned.channel.close()
        for descriptor in (spawned.stdin, spawned.stdout, spawned.stderr):
            os.close(descriptor)


def said(channel: socket.socket) -> list[reports.Report]:
    """Everything it reports until it closes."""
    received = b""
    while chunk := channel.recv(65536):
        received += chunk
    return [reports.decode(line) for line in received.splitlines()]


def exit_code(shim: Spawned) -> int:
    _, status = os.waitpid(shim.pid, 0)
    return os.waitstatus_to_exitcode(status)


def order(*argv: str) -> bytes:
    return encode_order(
        Order(argv=argv, env={"PATH": "/usr/bin:/bin"}, cwd="/", uid=os.getuid(), isolated=False)
    )


def test_it_ends_with_its_supervisor_before_the_order(shim: Spawned) -> None:
    shim.channel.shutdown(socket.SHUT_WR)
    assert exit_code(shim) == 1


def test_it_ends_with_its_supervisor_before_the_word_to_go(shim: Spawned) -> None:
    shim.channel.sendall(order("true"))
    assert isinstance(reports.decode(shim.channel.recv(4096)), reports.Checked)
    shim.channel.close()
    assert exit_code(shim) == 1


def test_it_reports_in_order_and_exits_with_zero(shim: Spawned) -> None:
    shim.channel.sendall(order("sh", "-c", "exit 3"))
    checked = reports.decode(shim.channel.recv(4096))
    assert isinstance(checked, reports.Checked)
    shim.channel.sendall(GO)
    assert said(shim.channel) == [reports.Started(), reports.Ended(exit_code=3)]
    assert exit_code(shim) == 0


def test_an_order_in_pieces_is_put_together(shim: Spawned) -> None:
    whole = order("true", "x" * 200_000)
    for start in range(0, len(whole), 1000):
        shim.channel.sendall(whole[start : start + 1000])
    assert isinstance(reports.decode(shim.channel.recv(4096)), reports.Checked)
    shim.channel.close()
    exit_code(shim)
