"""Puts up the kind of sandbox that a launch names, from the order's pieces.

Decides what each kind gets to see; what becomes of the sandbox is watched elsewhere.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stanchion.protocol.launch import SandboxKind
from stanchion.runner.keeper.order import Order
from stanchion.runner.sandbox.cgroup import MemoryGroup, Unavailable
from stanchion.runner.sandbox.oci import (
    ATTEMPT_DIR,
    BUNDLE_DIR,
    Bind,
    Box,
    config_json,
    harness_place,
)
from stanchion.runner.sandbox.process import ProcessSandbox, look_at_host
from stanchion.runner.sandbox.process_view import entry
from stanchion.runner.sandbox.runsc import Drain, Runsc, Sandbox


class StartedSandbox(Protocol):
    """What every kind can do once it runs."""

    @property
    def pid(self) -> int:
        """Of its process on the host."""

    async def wait(self) -> int:
        """The exit code; to be awaited by one task."""

    async def signal(self, name: str) -> bool:
        """Send TERM or KILL to process 1; True if it was taken."""

    async def end(self, waiting: "asyncio.Task[int]", *, grace_s: float) -> int:
        """TERM, then KILL after the grace."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where on this host one sandbox is put up."""

    directory: Path
    """The attempt directory."""
    folder: Path
    """Its scratch; made here."""
    group: MemoryGroup | Unavailable


async def put_up(order: Order, place: Place, drain: Drain) -> StartedSandbox:
    """Start it; OSError names what could not be started."""
    place.folder.mkdir(parents=True, mode=0o700)
    if order.open_run.spec.sandbox.kind is SandboxKind.PROCESS:
        return await _put_up_process(order, place, drain)
    return await _put_up_runsc(order, place, drain)


def _binds(order: Order, place: Place) -> tuple[Bind, ...]:
    harness = order.open_run.spec.harness
    return (
        Bind(order.pieces.bundle, BUNDLE_DIR),
        Bind(order.pieces.harness, harness_place(harness.name, harness.version)),
        Bind(str(place.directory), ATTEMPT_DIR),
    )


async def _put_up_runsc(order: Order, place: Place, drain: Drain) -> Sandbox:
    spec, pieces, group = order.open_run.spec, order.pieces, place.group
    overlay = place.folder / "overlay"
    overlay.mkdir(mode=0o700)
    if pieces.rootfs is None or pieces.runsc is None:
        raise OSError("the order names no runsc or no root file system")
    box = Box(
        rootfs=pieces.rootfs,
        binds=_binds(order, place),
        arguments=pieces.command,
        memory_mb=spec.sandbox.memory_mb,
        cgroups_path=None if isinstance(group, Unavailable) else group.cgroups_path,
        cpu_milli=spec.sandbox.cpu_milli,
    )
    (place.folder / "config.json").write_bytes(config_json(box))
    root = Path(order.scratch_folder) / "runsc"
    root.mkdir(exist_ok=True, mode=0o700)
    runsc = Runsc(
        binary=pieces.runsc,
        root=root,
        overlay_dir=overlay,
        cgroups=not isinstance(group, Unavailable),
    )
    return await Sandbox.start(
        runsc, sandbox_id=order.sandbox_id, bundle_dir=place.folder, drain=drain
    )


async def _put_up_process(order: Order, place: Place, drain: Drain) -> ProcessSandbox:
    order_of_entry = entry(
        folder=place.folder,
        listed=look_at_host(),
        binds=_binds(order, place),
        command=order.pieces.command,
        own_network=order.open_run.spec.sandbox.network == "none",
        hidden=order.pieces.hidden,
        join=_joined(place.group),
    )
    return await ProcessSandbox.start(order_of_entry, folder=place.folder, drain=drain)


def _joined(group: MemoryGroup | Unavailable) -> Sequence[str]:
    return () if isinstance(group, Unavailable) else (str(group.folder / "cgroup.procs"),)
