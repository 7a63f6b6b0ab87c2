"""Runs a harness of the store on this machine, told by its adapter, with the rehearsal as provider.

For recordings and wire tests; it decides nothing about what the harness is told.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.harness import native
from fakes import rehearsal_process
from fakes.tapped_port import tapped_port
from stanchion.harness_adapters.base import Adapter, Plan, Settings
from stanchion.images.harness_store import HarnessPackage

Request = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a run left behind, and what its provider was asked."""

    ran: native.NativeRun
    seen: list[dict[str, object]]
    """The provider's own account."""
    requests: list[Request]
    """Head and body as the harness sent them."""
    plan: Plan
    workdir: Path
    base_url: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A running rehearsal provider and its own record of what it was asked."""

    base_url: str
    log: Path

    def sightings(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def rehearsing(script: str, folder: Path) -> Iterator[Rehearsal]:
    """Play this script until the block ends."""
    source, log = rehearsal_process.script_in(folder, script), folder / "witness.jsonl"
    with rehearsal_process.rehearsing(source, log=log) as port:
        yield Rehearsal(base_url=f"http://127.0.0.1:{port}", log=log)


def run(
    adapter: Adapter,
    package: HarnessPackage,
    script: str,
    settings: Settings,
    root: Path,
    *,
    bring: Callable[[Path, Path], None] | None = None,
    changed: Callable[[Plan], Plan] = lambda plan: plan,
    meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None,
    elsewhere: str | None = None,
    timeout_s: float = 200,
) -> Rehearsed:
    """Play the script; `settings` holds what is asked for, places and address are made here.

    `bring` puts files into the working folder and the home first; `changed` is what becomes of the
    plan; `meanwhile` gets the process once it runs; `elsewhere` is an address that is told in place
    of the provider's. Only a package with a runtime of its own has to be where a sandbox shows it,
    as root.
    """
    placed = package.runtime is not None
    workdir, home = root / "work", root / "home"
    workdir.mkdir()
    home.mkdir()
    if bring is not None:
        bring(workdir, home)
    with (
        rehearsing(f"version = 1\n{script}", root) as provider,
        tapped_port(int(provider.base_url.rpartition(":")[2])) as tapped,
    ):
        base_url = elsewhere or f"http://127.0.0.1:{tapped.port}"
        plan = adapter.plan(
            replace(
                settings,
                base_url=base_url,
                home=str(home),
                workdir=str(workdir),
                package_dir=native.place(package) if placed else str(package.path),
                env={"PATH": os.environ["PATH"], **settings.env},
            )
        )
        plan = changed(plan)
        ran = native.run(
            plan, workdir, timeout_s=timeout_s, meanwhile=meanwhile,
            package=package if placed else None,
        )  # fmt: skip
        seen = provider.sightings()
    return Rehearsed(ran, seen, tapped.requests(), plan, workdir, base_url)
