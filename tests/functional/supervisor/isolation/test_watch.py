"""Watching a shim that is stopped from outside, with a real process in its place."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from stanchion.supervisor.isolation.watch import MAX_STOPS_AFTER_END, ShimWatch

ENDED = 2**22 + 1
"""No process can have this number."""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        # The watch has reaped it.
        process.returncode = 0


async def test_a_shim_that_is_kept_from_reporting_is_killed_in_the_end(
    sleeper: subprocess.Popen[bytes],
) -> None:
    told: list[str] = []
    loop = asyncio.get_running_loop()

    def stop_again() -> None:
        told.append("after end")
        loop.call_soon(os.kill, sleeper.pid, signal.SIGSTOP)

    watch = ShimWatch(
        sleeper.pid,
        ENDED,
        on_stopped=lambda count: told.append(f"stopped {count}"),
        on_stopped_after_end=stop_again,
        on_restless=lambda: told.append("restless"),
    )
    os.kill(sleeper.pid, signal.SIGSTOP)
    watch.hurry()
    gone = await asyncio.wait_for(watch.gone, 30)
    assert gone.status == signal.SIGKILL
    assert told.count("after end") == MAX_STOPS_AFTER_END
    assert told[-1] == "restless"


async def test_a_shim_stopped_while_its_agent_lives_is_only_continued(
    sleeper: subprocess.Popen[bytes],
) -> None:
    told: list[int] = []
    continued = asyncio.Event()

    def stopped(count: int) -> None:
        told.append(count)
        continued.set()

    watch = ShimWatch(
        sleeper.pid,
        os.getpid(),
        on_stopped=stopped,
        on_stopped_after_end=lambda: told.append(-1),
        on_restless=lambda: told.append(-2),
    )
    os.kill(sleeper.pid, signal.SIGSTOP)
    watch.hurry()
    await asyncio.wait_for(continued.wait(), 30)
    sleeper.terminate()
    gone = await asyncio.wait_for(watch.gone, 30)
    assert gone.status == signal.SIGTERM
    assert told == [1]


async def test_a_shim_that_somebody_else_has_reaped_is_gone_without_a_status() -> None:
    watch = ShimWatch(
        ENDED,
        ENDED,
        on_stopped=lambda _: None,
        on_stopped_after_end=lambda: None,
        on_restless=lambda: None,
    )
    watch.hurry()
    assert (await asyncio.wait_for(watch.gone, 30)).status is None
