import asyncio
import logging

import pytest

from stanchion.broker.tasks import Tasks


async def test_a_failure_is_its_own_and_its_message_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise ValueError("CANARY")

    ended = asyncio.Event()

    async def go_on() -> None:
        ended.set()

    logging.getLogger("stanchion.broker").propagate = True
    async with asyncio.TaskGroup() as group:
        tasks = Tasks(group)
        await tasks.start(fail())
        tasks.start(go_on())
    assert ended.is_set()
    assert "unexpected ValueError at test_tasks.py:" in caplog.text
    assert "CANARY" not in caplog.text


async def test_what_still_runs_can_be_cancelled() -> None:
    started = asyncio.Event()

    async def go_on() -> None:
        started.set()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        tasks = Tasks(group)
        task = tasks.start(go_on())
        await started.wait()
        tasks.cancel()
    assert task.cancelled()
