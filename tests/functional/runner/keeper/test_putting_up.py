"""Each kind of sandbox from one order; the real runsc is tested with real sandboxes."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from stanchion.protocol.launch import Isolation, SandboxKind, SandboxSpec
from stanchion.runner.keeper.order import Order, Pieces
from stanchion.runner.keeper.putting_up import Place, put_up
from stanchion.runner.sandbox.cgroup import Unavailable
from stanchion.runner.sandbox.process_powers import find_powers

pytestmark = pytest.mark.timeout(60)


def of_kind(order: Order, kind: SandboxKind, pieces: Pieces) -> Order:
    sandbox = SandboxSpec(kind=kind, isolation=Isolation.NONE, network="host")
    spec = msgspec.structs.replace(order.open_run.spec, sandbox=sandbox)
    request = msgspec.structs.replace(order.open_run, spec=spec)
    return msgspec.structs.replace(order, open_run=request, pieces=pieces)


async def test_a_launch_as_a_process_sees_bundle_harness_and_attempt_in_their_places(
    order: Order, tmp_path: Path
) -> None:
    if find_powers().why_not is not None:
        pytest.skip("no namespaces for this user")
    for name in ("bundle", "harness", "attempt"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"in-{name}").touch()
    script = "ls /opt/stanchion /opt/stanchion-harness/*/* /run/stanchion | sort"
    pieces = Pieces(
        runsc=None,
        rootfs=None,
        bundle=str(tmp_path / "bundle"),
        harness=str(tmp_path / "harness"),
        command=("/bin/sh", "-c", script),
    )
    output = bytearray()
    place = Place(tmp_path / "attempt", tmp_path / "scratch" / "x", Unavailable("not here"))

    sandbox = await put_up(of_kind(order, SandboxKind.PROCESS, pieces), place, output.extend)

    assert await asyncio.wait_for(sandbox.wait(), 30) == 0
    assert [line for line in output.decode().split() if line.startswith("in-")] == [
        *("in-attempt", "in-bundle", "in-harness")
    ]


async def test_an_order_for_gvisor_without_its_pieces_is_refused(
    order: Order, tmp_path: Path
) -> None:
    pieces = Pieces(runsc=None, rootfs=None, bundle="/b", harness="/h", command=("x",))
    place = Place(tmp_path, tmp_path / "scratch", Unavailable("not here"))

    with pytest.raises(OSError, match="names no runsc"):
        await put_up(of_kind(order, SandboxKind.RUNSC, pieces), place, bytearray().extend)
