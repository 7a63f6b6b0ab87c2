"""What this host can do for a run: one check a line, with the one command for what is missing.

Looks only; changes nothing, downloads nothing and starts nothing.
"""

import asyncio
import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from stanchion.broker.client import StatePaths
from stanchion.broker.client.config_file import find_config
from stanchion.images import preflight
from stanchion.images.errors import ImagesError
from stanchion.images.runsc import find_runsc
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.brokers import live_broker
from stanchion.runner.sandbox.cgroup import MOUNT
from stanchion.runner.sandbox.process_powers import Powers, find_powers

ENOUGH_DISK_BYTES = 2_000_000_000
FOR_GVISOR = frozenset({"user", "runsc", "mmdebstrap", "base"})
"""Checks that a run with --sandbox process does not depend on."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about this host."""

    name: str
    ok: bool
    required: bool
    found: str
    fix: str | None = None
    """The one command; None where nothing is missing or no command helps."""


async def check_host(state_dir: str | None, environment: Mapping[str, str]) -> list[Check]:
    """All checks, in the order in which a first run meets them."""
    paths = StatePaths.resolve(state_dir, environment)
    health = await live_broker(paths)
    running = f"pid {health.pid}, {health.open_runs} open runs" if health else "none running"
    process = process_check(await asyncio.to_thread(find_powers))
    checks = [
        _system(),
        _root(),
        _runsc(),
        process,
        cgroup_check(MOUNT),
        _disk(paths.root),
        *_pieces(paths.cache_dir),
        Check(name="broker", ok=True, required=False, found=f"{running} ({paths.broker_dir})"),
        _config(environment),
    ]
    return without_gvisor(checks) if process.ok and os.geteuid() != 0 else checks


def process_check(powers: Powers) -> Check:
    """What an attempt without gVisor would have here."""
    if powers.why_not is not None:
        found = f"--sandbox process cannot run: {powers.why_not}"
        return Check(name="process", ok=False, required=False, found=found, fix=powers.fix)
    network = "no network" if powers.own_network else "the network of this host"
    found = f"--sandbox process can run: user, mount and PID namespaces, {network}, isolation none"
    return Check(name="process", ok=True, required=False, found=found)


def without_gvisor(checks: list[Check]) -> list[Check]:
    """The same checks where gVisor cannot be had and is not all there is."""
    return [
        msgspec.structs.replace(check, required=False) if check.name in FOR_GVISOR else check
        for check in checks
    ]


def _system() -> Check:
    system, machine = platform.system(), platform.machine()
    ok = system == "Linux" and machine in {"x86_64", "aarch64"}
    return Check(name="system", ok=ok, required=True, found=f"{system} {machine}")


def _root() -> Check:
    is_root = os.geteuid() == 0
    found = "root" if is_root else f"uid {os.geteuid()}; gVisor sandboxes with limits need root"
    fix = None if is_root else "sudo stanchion doctor"
    return Check(name="user", ok=is_root, required=True, found=found, fix=fix)


def _runsc() -> Check:
    try:
        info = find_runsc()
    except ImagesError as error:
        return Check(name="runsc", ok=False, required=True, found=str(error), fix=error.fix)
    if info is None:
        need = next(need for need in preflight.needs(Path()) if need.id == "runsc")
        return Check(name="runsc", ok=False, required=True, found="not installed", fix=need.fix)
    ok = info.is_supported
    found = f"{info.version_date} at {info.path}{'' if ok else ', too old'}"
    fix = None if ok else "stanchion doctor --fix"
    return Check(name="runsc", ok=ok, required=True, found=found, fix=fix)


def cgroup_check(mount: Path) -> Check:
    """Whether memory limits can be enforced; runs work without, and say so."""
    if (mount / "cgroup.controllers").is_file():
        version, folder = "v2", mount
    elif (mount / "memory").is_dir():
        version, folder = "v1", mount / "memory"
    else:
        found = f"no memory controller below {mount}: memory limits are not enforced"
        return Check(name="cgroup", ok=False, required=False, found=found)
    ok = os.access(folder, os.W_OK)
    found = version if ok else f"{version}, not writable: memory limits are not enforced"
    return Check(name="cgroup", ok=ok, required=False, found=found)


def _disk(root: Path) -> Check:
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    ok = free >= ENOUGH_DISK_BYTES
    found = f"{free / 1e9:.1f} GB free at {place}"
    return Check(name="disk", ok=ok, required=True, found=found)


def _pieces(cache_dir: Path) -> list[Check]:
    return [
        Check(
            name=need.id,
            ok=need.present,
            required=True,
            found=f"{need.what}: {'present' if need.present else 'missing'}",
            fix=None if need.present else need.fix,
        )
        for need in preflight.needs(cache_dir)
        if need.id != "runsc"
    ]


def _config(environment: Mapping[str, str]) -> Check:
    try:
        config = find_config(None, environment, folder=Path.cwd(), home=Path.home())
    except RefusedError as error:
        return Check(name="config", ok=False, required=True, found=str(error))
    found = str(config.path) if config else "no stanchion.toml; only rehearsal/ models can run"
    return Check(name="config", ok=config is not None, required=False, found=found)
