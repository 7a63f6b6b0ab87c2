"""The self-test says no wherever isolation does not hold; on a bare machine that is nearly always.

That it says yes where it does hold is shown in a real sandbox (tests/sandbox/isolation).
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.supervisor.isolation import self_test

STATUS = "Name:\tx\nCapInh:\t{inh}\nCapPrm:\t{prm}\nCapEff:\t{eff}\nCapBnd:\t{bnd}\n"
ALLOWED = "00000000a80405fb"
NONE = "0000000000000000"
WITH_ADMIN = "00000000a82405fb"


@pytest.mark.parametrize(
    ("inh", "prm", "eff", "bnd", "holds"),
    [
        (NONE, ALLOWED, ALLOWED, ALLOWED, True),
        (NONE, NONE, NONE, NONE, True),
        (NONE, ALLOWED, ALLOWED, WITH_ADMIN, False),
        (NONE, WITH_ADMIN, ALLOWED, ALLOWED, False),
        (NONE, ALLOWED, WITH_ADMIN, ALLOWED, False),
        (WITH_ADMIN, ALLOWED, ALLOWED, ALLOWED, False),
        (NONE, ALLOWED, ALLOWED, "000001ffffffffff", False),
    ],
)
def test_capabilities_are_bounded_in_every_set(
    inh: str, prm: str, eff: str, bnd: str, holds: bool
) -> None:
    status = STATUS.format(inh=inh, prm=prm, eff=eff, bnd=bnd)
    assert self_test.within_bounds(status) is holds


def test_a_status_without_capabilities_proves_nothing() -> None:
    assert self_test.within_bounds("Name:\tx\n") is False
    assert self_test.within_bounds("") is False


def test_an_ambient_capability_counts() -> None:
    status = STATUS.format(inh=NONE, prm=NONE, eff=NONE, bnd=NONE) + f"CapAmb:\t{WITH_ADMIN}\n"
    assert self_test.within_bounds(status) is False


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "s"
    listener = socket.socket(socket.AF_UNIX)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        listener.bind(f"/proc/self/fd/{folder}/s")
        listener.listen()
        yield Path(f"/proc/self/fd/{folder}/s")
    finally:
        listener.close()
        os.close(folder)
    assert path.is_socket()


def test_outside_of_any_isolation_the_checks_fail(tmp_path: Path, listening: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "writable").mkdir()
    hidden = (str(tmp_path / "full"), str(tmp_path / "writable"), str(tmp_path / "missing"))
    checks = self_test.run(hidden=hidden, pinned=[str(tmp_path)], sockets=(str(listening),))
    assert {name for name, holds in checks.items() if not holds} >= {
        "own_pid_namespace",
        "no_environment",
        "dumpable_off",
        "supervisor_socket_unreachable",
        "paths_pinned",
        "hidden_0",
        "hidden_1",
        "hidden_2",
    }


def test_it_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "writable").mkdir()
    self_test.run(
        hidden=(str(tmp_path / "writable"),), pinned=[str(tmp_path / "writable")], sockets=()
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["writable"]


def test_mount_points_are_the_fifth_field() -> None:
    shown = "30 29 0:19 / / rw - overlay none rw\n40 30 0:19 /o /o\\040p rw - x y z\nshort\n\n"
    assert self_test.mount_points(shown) == {"/", "/o p"}


def test_a_link_on_the_way_is_not_pinned(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    checks = self_test.run(hidden=(), pinned=[str(tmp_path / "link")], sockets=())
    assert checks["paths_pinned"] is False


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could unmount anything here")
def test_whoever_may_unmount_is_not_made_to_try() -> None:
    checks = self_test.run(hidden=(), pinned=[], sockets=())
    assert checks["unmount_denied"] is False
    assert Path("/proc/self").exists()


def test_a_socket_that_is_not_there_is_not_reached() -> None:
    checks = self_test.run(hidden=(), pinned=[], sockets=("/no/such/socket",))
    assert checks["supervisor_socket_unreachable"] is True
