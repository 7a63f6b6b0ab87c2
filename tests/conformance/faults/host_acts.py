"""What is done to a sandboxed attempt of the matrix from the host, by name, after its event."""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from conformance.faults.acts import EVENTS
from conformance.faults.rows import Act
from fakes.open_attempt import until_event, until_open
from stanchion.broker.client import BrokerClient, StatePaths

PATIENCE_S = 120


@dataclass(frozen=True)
class Scene:
    """Whom an act may touch."""

    paths: StatePaths
    command: "subprocess.Popen[bytes]"
    attempt: str


async def cancel(scene: Scene) -> None:
    """The orchestrator's word."""
    async with BrokerClient(scene.paths.admin_socket) as broker:
        await broker.cancel(scene.attempt)


async def kill_broker(scene: Scene) -> None:
    """As a crash; the command that watches starts it again."""
    async with BrokerClient(scene.paths.admin_socket) as broker:
        pid = (await broker.health()).pid
    os.kill(pid, signal.SIGKILL)


def _below(scene: Scene, *words: str) -> list[psutil.Process]:
    """Processes that work out of this state folder and were started with all of these words."""
    root = str(scene.paths.root)
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if any(root in word for word in line) and set(words) <= {Path(word).name for word in line}:
            found.append(process)
    assert found, f"nothing of {words} is running"
    return found


async def kill_sandbox(scene: Scene) -> None:
    """The sentry, as an outside reaper would."""
    for process in _below(scene, "runsc-sandbox"):
        process.kill()


async def kill_keeper(scene: Scene) -> None:
    """The host process that owns the sandbox."""
    for process in _below(scene, "runsc", "run", "--bundle"):
        keeper = process.parent()
        assert keeper is not None
        assert "stanchion.runner.keeper" in keeper.cmdline()
        keeper.kill()


async def abort_supervisor(scene: Scene) -> None:
    """Process 1 of the sandbox dies of itself, as of a bug in its own code."""
    for process in _below(scene, "runsc", "run", "--bundle"):
        line = process.cmdline()
        before = line[: line.index("run")]
        await asyncio.to_thread(
            subprocess.run, [*before, "kill", line[-1], "ABRT"], check=True, timeout=30
        )


async def kill_command_and_broker(scene: Scene) -> None:
    """Nobody is left who would start the broker again: only keeper and sandbox are."""
    scene.command.kill()
    await kill_broker(scene)


ACTS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    act.__name__: act
    for act in (
        cancel,
        kill_broker,
        kill_sandbox,
        kill_keeper,
        abort_supervisor,
        kill_command_and_broker,
    )
}


async def _once(paths: StatePaths, command: "subprocess.Popen[bytes]", out: Path, act: Act) -> None:
    """Waits for the row's attempt and its event."""
    async with asyncio.timeout(PATIENCE_S):
        note = await asyncio.to_thread(until_open, paths.root, out, timeout_s=PATIENCE_S)
        await until_event(note, EVENTS[act.after])
        await ACTS[act.do](Scene(paths, command, note.attempt))


@contextlib.contextmanager
def acting(
    act: Act | None, state: Path, command: "subprocess.Popen[bytes]", out: Path
) -> Iterator[None]:
    """The act happens beside the block, if there is one; one that never came is an error."""
    if act is None:
        yield
        return
    failed: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(_once(StatePaths(state), command, out, act))
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not failed, failed
