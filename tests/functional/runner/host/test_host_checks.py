"""What the doctor looks at."""

from pathlib import Path

import pytest

from stanchion.broker.client import StatePaths
from stanchion.runner.host.host_checks import (
    Check,
    cgroup_check,
    check_host,
    process_check,
    without_gvisor,
)
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.sandbox.process_powers import Powers

pytestmark = pytest.mark.timeout(60)


async def test_an_empty_state_folder_lacks_pieces_and_each_has_one_command(
    paths: StatePaths, tmp_path: Path
) -> None:
    checks = {check.name: check for check in await check_host(str(paths.root), {})}

    for name in ("bundle", "harness", "base"):
        assert not checks[name].ok
        assert checks[name].fix
    assert checks["system"].ok
    assert "none running" in checks["broker"].found
    assert not paths.root.exists()


async def test_a_live_broker_and_a_named_file_are_found(paths: StatePaths, tmp_path: Path) -> None:
    health = await ensure_broker(paths, None, print)
    environment = {"STANCHION_CONFIG": str(tmp_path / "missing.toml")}
    checks = {check.name: check for check in await check_host(str(paths.root), environment)}

    assert f"pid {health.pid}" in checks["broker"].found
    assert (checks["config"].ok, checks["config"].required) == (False, True)


def test_each_kind_of_cgroup_is_named(tmp_path: Path) -> None:
    assert not cgroup_check(tmp_path).ok
    (tmp_path / "memory").mkdir()
    assert cgroup_check(tmp_path).found == "v1"
    (tmp_path / "cgroup.controllers").touch()
    assert cgroup_check(tmp_path).found == "v2"


def test_the_way_without_gvisor_is_named_with_its_network_or_its_remedy() -> None:
    assert "no network" in process_check(Powers(None, None, own_network=True)).found
    assert "network of this host" in process_check(Powers(None, None, own_network=False)).found
    forbidden = process_check(Powers("kernel.x forbids it", "sudo sysctl kernel.x=0", False))
    assert (forbidden.ok, forbidden.required) == (False, False)
    assert "kernel.x forbids it" in forbidden.found
    assert forbidden.fix == "sudo sysctl kernel.x=0"


def test_without_root_gvisor_is_not_required() -> None:
    checks = [
        Check(name=name, ok=False, required=True, found="missing") for name in ("runsc", "bundle")
    ]
    assert [check.required for check in without_gvisor(checks)] == [False, True]
