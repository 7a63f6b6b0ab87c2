"""Interrupts of a command that watches an attempt, with real signals."""

import asyncio
import os
import signal

import pytest

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.launching.interrupts import cancelling

pytestmark = pytest.mark.timeout(30)


async def test_the_first_signal_cancels_and_the_watching_goes_on() -> None:
    cancel, said = asyncio.Event(), list[str]()
    with cancelling(cancel, timeout_s=None, say=said.append) as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        await cancel.wait()

    assert (interrupts.code, len(said)) == (ExitCode.INTERRUPTED, 1)


async def test_the_second_signal_ends_the_watching() -> None:
    with pytest.raises(SystemExit) as ended:
        await _watch_for_ever(asyncio.Event())
    assert ended.value.code == ExitCode.INTERRUPTED


async def _watch_for_ever(cancel: asyncio.Event) -> None:
    with cancelling(cancel, timeout_s=None, say=lambda _: None):
        os.kill(os.getpid(), signal.SIGINT)
        await cancel.wait()
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()


async def test_the_timeout_cancels_with_its_own_code() -> None:
    cancel = asyncio.Event()
    with cancelling(cancel, timeout_s=0.01, say=lambda _: None) as interrupts:
        await cancel.wait()

    assert interrupts.code is ExitCode.TIMEOUT


async def test_without_an_interrupt_nothing_is_left_behind() -> None:
    cancel = asyncio.Event()
    with cancelling(cancel, timeout_s=60, say=lambda _: None) as interrupts:
        pass

    assert interrupts.code is None
    assert not cancel.is_set()
    assert not asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
