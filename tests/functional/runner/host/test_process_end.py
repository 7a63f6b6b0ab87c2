"""The end of somebody else's process."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from stanchion.runner.host.process_end import until_gone
from stanchion.runner.host.process_identity import identity_of, own_identity

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """One that ends when its input does."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started


def end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


async def test_it_returns_when_the_process_ends(process: subprocess.Popen[bytes]) -> None:
    identity = identity_of(process.pid)
    assert identity is not None
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(until_gone(process.pid, identity))
        await asyncio.sleep(0)
        assert not waiting.done()
        end(process)
        await asyncio.wait_for(waiting, 20)


async def test_one_that_was_another_is_not_waited_for(process: subprocess.Popen[bytes]) -> None:
    await asyncio.wait_for(until_gone(process.pid, own_identity()), 5)


async def test_one_that_has_ended_is_not_waited_for(process: subprocess.Popen[bytes]) -> None:
    identity = identity_of(process.pid)
    assert identity is not None
    end(process)
    await asyncio.to_thread(process.wait)
    await asyncio.wait_for(until_gone(process.pid, identity), 5)
