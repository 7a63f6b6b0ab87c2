"""What the supervisor costs while its agent idles in gVisor, and how soon it decides to stop it.

The real supervisor is process 1 of a real sandbox, its harness saves three rows and sleeps, the
broker is played on the host. Processor time inside gVisor is counted in steps of 10 ms.
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.budgets import ROUNDS, Budget, disturbed
from fakes import scripted_harness
from fakes.attempt import lay_out
from fakes.fake_broker import FakeBroker
from fakes.runsc_box import lay_out_box
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.events import Envelope, HarnessStarted, Stopping, VitalsSampled
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.launch import Deadlines, SandboxSpec, WatchdogLimits, Workspace

SILENT_S = 60
PROGRAM = Path(__file__).parents[1] / "fakes" / "idle_pid1.py"
RSS = Budget("idle_rss", "the supervisor's resident memory while its agent idles", "MB", 42, 32)
CPU = Budget(
    "idle_cpu", "the supervisor's share of one processor while its agent idles", "%", 1, 0.3
)
DECISION = Budget("stop_decision", "from the threshold to the decision to stop", "s", 5, 1)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


@dataclass(frozen=True, slots=True)
class Idled:
    """One agent's idling."""

    rss_mb: float
    cpu_percent: float
    decided_after_s: float


async def test_an_idle_agent_is_watched_for_little_and_stopped_in_time(
    runsc: RunscInfo, bundle: Bundle, base_image: BaseImage
) -> None:
    load = disturbed()
    rounds = []
    for _ in range(ROUNDS if load is None else 1):
        with tempfile.TemporaryDirectory(prefix="st") as folder:
            command = lay_out_box(
                PROGRAM,
                files_of_launch(Path(folder)),
                runsc=runsc.path,
                bundle=bundle.path,
                rootfs=base_image.path,
                folder=Path(folder),
            )
            rounds.append(await idled(command, Path(folder) / "run"))
    load = load or disturbed()
    RSS.settle([one.rss_mb for one in rounds], load=None)
    DECISION.settle([one.decided_after_s for one in rounds], load=load)
    CPU.settle([one.cpu_percent for one in rounds], load=load)


def files_of_launch(folder: Path) -> Mapping[str, bytes]:
    """What the supervisor finds below its attempt directory."""
    (folder / "attempt").mkdir()
    attempt = lay_out(
        folder / "attempt",
        workspace=Workspace(workdir="/work", answers=("/work/answer.txt",)),
        watchdog=WatchdogLimits(silent_s=SILENT_S),
        deadlines=Deadlines(agent_s=3600, verifier_s=20),
        sandbox=SandboxSpec(),
    )
    run, package = attempt.paths.run_dir, attempt.paths.harness_root
    found = {str(file.relative_to(run)): file for file in run.rglob("*") if file.is_file()}
    found |= {
        f"harness/{file.relative_to(package)}": file
        for file in package.rglob("*")
        if file.is_file()
    }
    found["fakes/scripted_harness.py"] = Path(scripted_harness.__file__)
    return {name: file.read_bytes() for name, file in found.items()}


async def idled(command: list[str | Path], run: Path) -> Idled:
    """From the start of the sandbox to its end."""
    async with FakeBroker(run) as broker:
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        output, errors = await asyncio.wait_for(process.communicate(), 180)
    assert process.returncode == 0, errors.decode()
    told = [broker.envelopes[seq] for seq in sorted(broker.envelopes)]
    (stop,) = (one for one in told if isinstance(one.event, Stopping))
    assert isinstance(stop.event, Stopping)
    assert stop.event.stop.reason is StopReason.STALLED_SILENT, stop.event.stop
    (started,) = (one for one in told if isinstance(one.event, HarnessStarted))
    vitals = [one for one in told if isinstance(one.event, VitalsSampled) and one.seq < stop.seq]
    metered = [json.loads(line) for line in output.splitlines()]
    return Idled(
        rss_mb=rss_mb(vitals[-1]),
        cpu_percent=cpu_percent(metered, started.mono_ms, stop.mono_ms),
        decided_after_s=(stop.mono_ms - due_ms(vitals[-1], started)) / 1000,
    )


def rss_mb(vitals: Envelope) -> float:
    assert isinstance(vitals.event, VitalsSampled)
    size = vitals.event.vitals.supervisor_rss_bytes
    assert size is not None
    return size / 1e6


def cpu_percent(metered: list[dict[str, int]], from_ms: int, to_ms: int) -> float:
    """Between the first and the last line in which the agent idled."""
    within = [line for line in metered if from_ms + 5_000 <= line["mono_ms"] <= to_ms]
    first, last = within[0], within[-1]
    used_ms = last["cpu_ms"] - first["cpu_ms"]
    return 100 * used_ms / (last["mono_ms"] - first["mono_ms"])


def due_ms(vitals: Envelope, started: Envelope) -> int:
    """When the silence was as long as it may be: counted from the last sign of life."""
    assert isinstance(vitals.event, VitalsSampled)
    age_ms = vitals.event.vitals.liveness_age_ms
    since_ms = started.mono_ms if age_ms is None else vitals.mono_ms - age_ms
    return since_ms + SILENT_S * 1000
