"""Runs the task's tests after the agent is gone: a new child, its own namespace, its own deadline.

The tests come from the attempt directory, which the agent never saw; nothing that the agent left at
/tests or /logs is used. Never a relay, never the agent's processes; the reward is read as text and
judged elsewhere.
"""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from stanchion.protocol.events import Event, OutputStream, OutputWritten, VerifierEnded, Warned
from stanchion.protocol.evidence import VerifierRun
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.refusal import RefusedError
from stanchion.supervisor.clock import Clock
from stanchion.supervisor.configure import PATH
from stanchion.supervisor.gate import check_isolation
from stanchion.supervisor.isolation import AgentProcess, Job, start
from stanchion.supervisor.paths import Paths
from stanchion.supervisor.regular_files import read_regular
from stanchion.supervisor.sensors.stdout import pump

MOST_REWARD_BYTES = 64 * 1024
MOST_OUTPUT_BYTES = 16 * 1024 * 1024
PIPES_S = 2
SHELLS = (Path("/bin/bash"), Path("/usr/bin/bash"), Path("/bin/sh"))

Publish = Callable[[Event], None]


async def verify(
    spec: LaunchSpec, paths: Paths, publish: Publish, clock: Clock, cancelled: asyncio.Event
) -> VerifierRun | None:
    """What the tests did; None = they could not be started, or there are none."""
    started_ms = clock.mono_ms()
    if not paths.tests_source.is_dir():
        publish(Warned(what="verifier", detail="the task brings no tests"))
        return None
    try:
        _lay_out(paths)
        process = await start(_job(spec, paths))
    except (OSError, shutil.Error) as error:
        publish(Warned(what="verifier", detail=f"the tests could not be started: {error}"))
        return None
    try:
        check_isolation(spec, process.checks)
    except RefusedError as error:
        publish(Warned(what="verifier", detail=str(error)))
        await process.abandon()
        return None
    run = await _run(process, spec, paths, publish, clock, cancelled, started_ms)
    publish(VerifierEnded(run=run))
    return run


def _lay_out(paths: Paths) -> None:
    """Ours in place of whatever the agent left there; links are removed, never followed."""
    for place in (paths.tests_dir, paths.logs_dir):
        if place.is_symlink() or place.is_file():
            place.unlink()
        elif place.exists():
            shutil.rmtree(place)
    shutil.copytree(paths.tests_source, paths.tests_dir, symlinks=True)
    for name in ("agent", "verifier", "artifacts"):
        (paths.logs_dir / name).mkdir(parents=True)


def _job(spec: LaunchSpec, paths: Paths) -> Job:
    script = paths.tests_dir / "test.sh"
    shell = next((shell for shell in SHELLS if shell.exists()), None)
    workdir = Path(spec.workspace.workdir)
    return Job(
        argv=(str(shell), str(script)) if shell else (str(script),),
        env={"PATH": PATH, "HOME": str(paths.root_home), **spec.workspace.verifier_env},
        cwd=str(workdir) if workdir.is_dir() else "/",
        uid=0,
        stdin=b"",
        hidden=(str(paths.run_dir),),
        isolation=spec.sandbox.isolation,
    )


async def _run(
    process: AgentProcess,
    spec: LaunchSpec,
    paths: Paths,
    publish: Publish,
    clock: Clock,
    cancelled: asyncio.Event,
    started_ms: int,
) -> VerifierRun:
    timed_out = False
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
            timed_out = stopping not in done
            process.kill()
        end = await waiting
        await asyncio.wait(pumps, timeout=PIPES_S)
        for task in pumps:
            task.cancel()
    process.close()
    name, text = _reward(paths.logs_dir / "verifier", publish)
    return VerifierRun(
        wait=None if waiting not in done else end.wait,
        timed_out=timed_out,
        reward_text=text,
        reward_file=name,
        duration_ms=clock.mono_ms() - started_ms,
    )


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


def _reward(folder: Path, publish: Publish) -> tuple[str | None, str | None]:
    """Name and text of the reward file; reward.json goes first."""
    for name in ("reward.json", "reward.txt"):
        try:
            content = read_regular(folder / name, MOST_REWARD_BYTES)
        except FileNotFoundError:
            continue
        except OSError as error:
            publish(Warned(what="reward", detail=str(error)))
            continue
        if content is None:
            detail = f"{name} is larger than {MOST_REWARD_BYTES} bytes"
            publish(Warned(what="reward", detail=detail))
            continue
        return name, content.decode("utf-8", "replace")
    return None, None
