"""Runs the task's tests after the agent is gone: a new child, its own namespace, its own deadline.

The tests come from the attempt directory, which the agent never saw; nothing that the agent left at
/tests or /logs is used. Never a relay, never the agent's processes; the reward is read as text and
judged elsewhere.
"""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.protocol.events import Event, OutputStream, OutputWritten, VerifierEnded, Warned
from stanchion.protocol.evidence import VerifierRun
from stanchion.protocol.launch import LaunchSpec, SandboxKind
from stanchion.protocol.refusal import RefusedError
from stanchion.supervisor.clock import Clock
from stanchion.supervisor.configure import PATH, make_logs
from stanchion.supervisor.gate import check_isolation
from stanchion.supervisor.isolation import AgentProcess, Job, ProcessEnd, start
from stanchion.supervisor.network_watch import Asked, NetworkWatch
from stanchion.supervisor.paths import Paths
from stanchion.supervisor.reward import read_reward_file
from stanchion.supervisor.sensors.stdout import pump

MOST_OUTPUT_BYTES = 16 * 1024 * 1024
PIPES_S = 2
SCRIPT = "test.sh"
SHELLS = (Path("/bin/bash"), Path("/usr/bin/bash"), Path("/bin/sh"))

Publish = Callable[[Event], None]


async def verify(
    spec: LaunchSpec, paths: Paths, publish: Publish, clock: Clock, cancelled: asyncio.Event
) -> VerifierRun:
    """What the tests did, or why they could not be run."""
    started_ms = clock.mono_ms()
    run = await _started(spec, paths, publish, cancelled)
    run = msgspec.structs.replace(run, duration_ms=clock.mono_ms() - started_ms)
    publish(VerifierEnded(run=run))
    return run


async def _started(
    spec: LaunchSpec, paths: Paths, publish: Publish, cancelled: asyncio.Event
) -> VerifierRun:
    try:
        _lay_out(spec, paths)
        process = await start(_job(spec, paths))
    except (OSError, shutil.Error) as error:
        return _not_run(f"the tests could not be started: {error}", publish)
    try:
        check_isolation(spec, process.checks)
    except RefusedError as error:
        await process.abandon()
        return _not_run(str(error), publish)
    return await _run(process, spec, paths, publish, cancelled)


def _not_run(error: str, publish: Publish) -> VerifierRun:
    publish(Warned(what="verifier", detail=error))
    return VerifierRun(
        wait=None, timed_out=False, reward_text=None, reward_file=None, duration_ms=0, error=error
    )


def _lay_out(spec: LaunchSpec, paths: Paths) -> None:
    """Ours in place of whatever the agent left there; links are removed, never followed."""
    if not (paths.tests_source / SCRIPT).is_file():
        raise FileNotFoundError(f"the task brings no tests/{SCRIPT}")
    _clear(paths.tests_dir)
    shutil.copytree(paths.tests_source, paths.tests_dir, symlinks=True)
    (paths.tests_dir / SCRIPT).chmod(0o755)  # as Harbor does
    _clear(paths.logs_dir / "verifier")
    make_logs(paths, spec.workspace.verifier_uid)


def _clear(place: Path) -> None:
    if place.parent.is_symlink():
        place.parent.unlink()
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)


def _job(spec: LaunchSpec, paths: Paths) -> Job:
    workspace, workdir = spec.workspace, Path(spec.workspace.workdir)
    home = str(paths.home(workspace.verifier_uid))
    return Job(
        argv=_command(paths.tests_dir / SCRIPT),
        env={"PATH": PATH, "HOME": home, **workspace.verifier_env},
        cwd=str(workdir) if workdir.is_dir() else "/",
        uid=workspace.verifier_uid,
        stdin=b"",
        hidden=(str(paths.run_dir),),
        isolation=spec.sandbox.isolation,
    )


def _command(script: Path) -> tuple[str, ...]:
    """As a shell would start it: by its first line, else by a shell."""
    with script.open("rb") as file:
        if file.read(2) == b"#!":
            return (str(script),)
    shell = next((shell for shell in SHELLS if shell.exists()), None)
    return (str(shell), str(script)) if shell else (str(script),)


async def _run(
    process: AgentProcess,
    spec: LaunchSpec,
    paths: Paths,
    publish: Publish,
    cancelled: asyncio.Event,
) -> VerifierRun:
    watch = NetworkWatch() if _is_cut_off(spec) else None
    ended = await _to_the_end(process, spec, publish, cancelled)
    asked = watch.asked() if watch else Asked(None, "only a sandbox without a network is watched")
    reward = read_reward_file(paths.logs_dir / "verifier")
    if reward.error is not None:
        publish(Warned(what="reward", detail=reward.error))
    lost = ended.by_itself and ended.end.wait is None and reward.name is None
    return VerifierRun(
        wait=ended.end.wait if ended.by_itself else None,
        timed_out=ended.timed_out,
        reward_text=reward.text,
        reward_file=reward.name,
        reward_error=reward.error,
        network_refused=asked.refused,
        network_why=asked.why,
        error=f"the tests could not be run: {ended.end.why}" if lost else None,
        duration_ms=0,
    )


def _is_cut_off(spec: LaunchSpec) -> bool:
    return spec.sandbox.kind is SandboxKind.RUNSC and spec.sandbox.network == "none"


@dataclass(frozen=True, slots=True)
class _Ended:
    end: ProcessEnd
    by_itself: bool
    timed_out: bool


async def _to_the_end(
    process: AgentProcess, spec: LaunchSpec, publish: Publish, cancelled: asyncio.Event
) -> _Ended:
    """Its own end, its deadline or a cancellation, and everything it wrote until then."""
    output = _Output(publish)
    async with asyncio.TaskGroup() as tasks:
        pumps = [
            tasks.create_task(pump(process.stdout, output.chunk)),
            tasks.create_task(pump(process.stderr, output.chunk)),
        ]
        await process.release()
        waiting = tasks.create_task(process.wait())
        stopping = tasks.create_task(cancelled.wait())
        done, _ = await asyncio.wait(
            {waiting, stopping},
            timeout=spec.deadlines.verifier_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        stopping.cancel()
        if waiting not in done:
            process.kill()
        end = await waiting
        await asyncio.wait(pumps, timeout=PIPES_S)
        for task in pumps:
            task.cancel()
    process.close()
    by_itself = waiting in done
    return _Ended(end, by_itself, timed_out=not by_itself and stopping not in done)


class _Output:
    """Sends the tests' output on, up to a bound; what is beyond is read and left out."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._left_bytes = MOST_OUTPUT_BYTES

    def chunk(self, data: bytes) -> None:
        if self._left_bytes <= 0:
            return
        self._left_bytes -= len(data)
        self._publish(OutputWritten(stream=OutputStream.VERIFIER, data=data))
        if self._left_bytes <= 0:
            detail = f"the tests wrote more than {MOST_OUTPUT_BYTES} bytes; the rest is left out"
            self._publish(Warned(what="verifier_output", detail=detail))
