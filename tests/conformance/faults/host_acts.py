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
from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.events import decode_event

LOOK_S = 0.2
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


def _below(scene: Scene) -> list[psutil.Process]:
    """Processes that work out of this state folder."""
    root = str(scene.paths.root)
    found = psutil.process_iter(["cmdline"])
    return [
        process for process in found if any(root in word for word in process.info["cmdline"] or ())
    ]


async def kill_sandbox(scene: Scene) -> None:
    """The sentry, as an outside reaper would."""
    for process in _below(scene):
        if any("runsc-sandbox" in word for word in process.cmdline()):
            process.kill()


async def kill_keeper(scene: Scene) -> None:
    """The host process that owns the sandbox."""
    for process in _below(scene):
        if "stanchion.runner.keeper" in process.cmdline():
            process.kill()


ACTS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    act.__name__: act for act in (cancel, kill_broker, kill_sandbox, kill_keeper)
}


async def _once(paths: StatePaths, command: "subprocess.Popen[bytes]", act: Act) -> None:
    """Waits for the row's attempt and its event."""
    wanted = EVENTS[act.after]
    async with asyncio.timeout(PATIENCE_S):
        while command.poll() is None:
            with contextlib.suppress(BrokerUnreachableError):
                if (attempt := await _reached(paths, wanted)) is not None:
                    await ACTS[act.do](Scene(paths, command, attempt))
                    return
            await asyncio.sleep(LOOK_S)
    raise AssertionError(f"the attempt ended before its {act.after}")


async def _reached(paths: StatePaths, wanted: type) -> str | None:
    """The open attempt, once it has had such an event."""
    async with BrokerClient(paths.admin_socket) as broker:
        for view in await broker.runs("open"):
            page = await broker.events(view.id, after=None, wait_s=0)
            if any(isinstance(decode_event(entry.event), wanted) for entry in page.entries):
                return view.id
    return None


@contextlib.contextmanager
def acting(act: Act | None, state: Path, command: "subprocess.Popen[bytes]") -> Iterator[None]:
    """The act happens beside the block, if there is one; one that never came is an error."""
    if act is None:
        yield
        return
    failed: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(_once(StatePaths(state), command, act))
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not failed, failed
