"""The demo: one real attempt with a scripted provider, its evidence, and the same agent killed.

Everything but the model is real. Says at each step what it found; ends well only if every
expectation held, and otherwise names the ones that did not.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from stanchion.images.host import os_release
from stanchion.images.preflight import NeedId
from stanchion.protocol.events import Event, ExchangeEnded, HarnessEnded, Unknown
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult
from stanchion.runner.demo.audit_call import AuditVerdict, audit_bundle
from stanchion.runner.demo.demo_text import Seen, evidence_lines
from stanchion.runner.demo.key_scan import Scan, scan_sandbox
from stanchion.runner.host.host_checks import cgroup_check
from stanchion.runner.launching.attempt_run import Launch, Watch
from stanchion.runner.launching.interrupts import cancelling
from stanchion.runner.launching.pieces import ReadyPieces
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import (
    Prepared,
    Request,
    launch_in,
    open_folder,
    prepare,
    run_and_record,
)
from stanchion.runner.results.job_folder import JobFolder, replace_demo
from stanchion.runner.sandbox.cgroup import MOUNT
from stanchion.runner.tasks.examples import example_task

TASK = "fix-bug"
MODEL = "scripted-1"
EFFORT = "max"
KILLED_SCRIPT = Path(__file__).parent / "demo_killed.toml"
SCAN_AFTER_RESPONSES = 3

Say = Callable[[str], None]


@dataclass(slots=True)
class KeyWatch:
    """Looks for the key in the live sandbox: after a few responses and when the agent has ended."""

    launch: Launch
    show: Watch
    scans: list[Scan] = field(default_factory=list)
    responses: int = 0

    def __call__(self, event: Event | Unknown) -> None:
        self.show(event)
        if isinstance(event, ExchangeEnded) and event.answered.has_content:
            self.responses += 1
            if self.responses == SCAN_AFTER_RESPONSES:
                self._scan()
        elif isinstance(event, HarnessEnded):
            self._scan()

    def _scan(self) -> None:
        key = self.launch.rehearsal_key.encode()
        self.scans.append(scan_sandbox(self.launch.sandbox_id, key))

    @property
    def places(self) -> int | None:
        """Over all looks; None where one was blind, or none came before the sandbox went."""
        looks = [scan.places for scan in self.scans if not scan.gone]
        known = [places for places in looks if places is not None]
        return sum(known) if known and len(known) == len(looks) else None

    @property
    def why(self) -> str:
        """What a look could not do."""
        return "; ".join(scan.why for scan in self.scans if scan.why) or "it was never looked for"


def demo_request(folder: Path, state_dir: str | None) -> Request:
    """The demo's own `stanchion run`."""
    options = Options(harness="opencode", account="rehearsal", model=MODEL, effort=EFFORT)
    return Request(
        task=example_task(TASK), options=options, state_dir=state_dir, folder=folder, kind="demo"
    )


async def run_demo(folder: Path, state_dir: str | None, say: Say, show: Watch) -> list[str]:
    """The whole demo; returns what did not hold."""
    replace_demo(folder)
    say("stanchion demo · no key needed: a scripted provider plays the model, all else is real")
    prepared = await prepare(demo_request(folder, state_dir), say)
    job = open_folder(prepared)
    _introduce(prepared, say)
    whole, watch = await _whole(prepared, job, say, show)
    verdict = await asyncio.to_thread(audit_bundle, whole.receipts.bundle, prepared.paths.root)
    seen = Seen(
        responses=watch.responses,
        places=watch.places,
        places_why=watch.why,
        bundle=_shown(Path(whole.receipts.bundle)) if whole.receipts.bundle else "no receipts",
        memory_mb=prepared.spec.sandbox.memory_mb,
    )
    for line in evidence_lines(whole, seen, verdict):
        say(line)
    launch = launch_in(prepared, job, name=f"{TASK}-killed", script=KILLED_SCRIPT)
    killed = await _uninterrupted(launch, job, say, show)
    score = "withheld" if killed.score is None else f"{killed.score:g}"
    said = f"a plain runner says {_reward(killed)}" if killed.reward else "its tests gave nothing"
    say(
        f"Now the same agent, killed half-way:   ended {killed.outcome.reason} "
        f"({killed.outcome.detail}) · score {score} ({said})"
    )
    shown = _shown(job.path)
    say(f"Next: stanchion show {shown} · stanchion audit {shown}")
    return [*expect_whole(whole, watch, verdict), *expect_killed(killed)]


async def _whole(
    prepared: Prepared, job: JobFolder, say: Say, show: Watch
) -> tuple[AttemptResult, KeyWatch]:
    launch = launch_in(prepared, job)
    watch = KeyWatch(launch, show)
    return await _uninterrupted(launch, job, say, watch), watch


async def _uninterrupted(launch: Launch, job: JobFolder, say: Say, watch: Watch) -> AttemptResult:
    """The attempt; an interrupt cancels it and ends the demo."""
    with cancelling(launch.cancel, timeout_s=None, say=say) as interrupts:
        result = await run_and_record(launch, job, watch)
    if interrupts.code is not None:
        raise SystemExit(interrupts.code)
    return result


def _introduce(prepared: Prepared, say: Say) -> None:
    pieces, harness = prepared.pieces, prepared.spec.harness
    assert pieces.runsc is not None, "the demo is for gVisor"
    assert pieces.base is not None
    system = os_release(Path("/etc/os-release").read_text(encoding="utf-8"))
    name = system.get("PRETTY_NAME", "Linux")
    cgroup = cgroup_check(MOUNT).found
    say(f"[1/5] host      {name}, runsc {pieces.runsc.version_date}, cgroup {cgroup}, root · ok")
    say(
        f"[2/5] pieces    {harness.name} {harness.version}{_origin(pieces, NeedId.HARNESS)}, "
        f"base image sha256:{pieces.base.digest[:4]}…{_origin(pieces, NeedId.BASE)} · ok"
    )
    say(f"[3/5] broker    pid {prepared.broker_pid}, stanchion {version('stanchion')}")


def _origin(pieces: ReadyPieces, piece: NeedId) -> str:
    return " (fetched now)" if piece in pieces.fetched else " (cached)"


def _reward(result: AttemptResult) -> str:
    return ", ".join(f"{value:g}" for value in (result.reward or {}).values())


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def expect_whole(result: AttemptResult, watch: KeyWatch, verdict: AuditVerdict) -> list[str]:
    """What of the first attempt is not as it must be."""
    limit, effort = result.limits.output_tokens, result.effort
    ended = f"{result.outcome.reason}, {result.outcome.detail}"
    expected = {
        f"the attempt ended completed (it ended {ended})": (
            result.outcome.reason is EndReason.COMPLETED
        ),
        "its score is 1": result.score == 1.0,
        "the output limit on the wire is the declared one": limit.observed == (limit.declared,),
        "the output limit was written as declared": limit.written == limit.declared,
        "the effort on the wire is the requested one": effort.observed == (effort.requested,),
        "the key is nowhere in the sandbox": watch.places == 0,
        "the receipts verify": verdict.verified,
    }
    return [what for what, held in expected.items() if not held]


def expect_killed(result: AttemptResult) -> list[str]:
    """What of the second attempt is not as it must be."""
    expected = {
        f"the killed agent ended harness_signal (it ended {result.outcome.reason})": (
            result.outcome.reason is EndReason.HARNESS_SIGNAL
        ),
        "the killed agent's score is withheld": result.score is None,
    }
    return [what for what, held in expected.items() if not held]
