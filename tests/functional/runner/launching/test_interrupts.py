"""Interrupts of a command that watches an attempt, with real signals."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Self

import pytest

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.launching.interrupts import CANCELLING, QUESTION, Interrupts, cancelling

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


class Keys:
    """A terminal on which somebody answers by hand."""

    def __init__(self) -> None:
        self.asked: list[Callable[[str], None]] = []
        self.forgotten = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, answer: Callable[[str], None]) -> None:
        self.asked.append(answer)

    def forget(self) -> None:
        self.forgotten = True


async def watch(keys: Keys, happens: Callable[[Interrupts], None], said: list[str]) -> Interrupts:
    """Watch for ever, or until it was cancelled."""
    cancel = asyncio.Event()
    with cancelling(
        cancel, timeout_s=None, say=said.append, rejoin="stanchion attach 7f3a", terminal=keys
    ) as seen:
        asyncio.get_running_loop().call_soon(happens, seen)
        await cancel.wait()
    return seen


def interrupted() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def test_on_a_terminal_the_first_interrupt_asks_and_c_cancels() -> None:
    keys, said = Keys(), list[str]()

    def happens(seen: Interrupts) -> None:
        seen.interrupt()
        keys.asked[0]("c")

    assert (await watch(keys, happens, said)).code is ExitCode.INTERRUPTED
    assert said == [QUESTION, CANCELLING]


async def test_a_second_interrupt_is_an_answer_too() -> None:
    keys, said = Keys(), list[str]()

    def happens(seen: Interrupts) -> None:
        seen.interrupt()
        interrupted()

    assert (await watch(keys, happens, said)).code is ExitCode.INTERRUPTED
    assert len(keys.asked) == 1


async def test_any_other_key_goes_on_and_the_next_interrupt_asks_again() -> None:
    keys, said = Keys(), list[str]()

    def happens(seen: Interrupts) -> None:
        seen.interrupt()
        keys.asked[0]("x")
        assert not seen.cancel.is_set()
        seen.interrupt()
        keys.asked[1]("c")

    await watch(keys, happens, said)
    assert said == [QUESTION, QUESTION, CANCELLING]


async def test_d_detaches_with_the_command_that_watches_again() -> None:
    keys, said = Keys(), list[str]()

    def happens(seen: Interrupts) -> None:
        seen.interrupt()
        keys.asked[0]("d")

    with pytest.raises(SystemExit) as ended:
        await watch(keys, happens, said)
    assert ended.value.code == ExitCode.OK
    assert said[-1].endswith("Watch it again with: stanchion attach 7f3a")


async def test_a_terminal_that_goes_away_detaches() -> None:
    keys = Keys()
    with pytest.raises(SystemExit) as ended:
        await watch(keys, lambda _: os.kill(os.getpid(), signal.SIGHUP), [])
    assert (ended.value.code, keys.forgotten) == (ExitCode.OK, True)


async def test_sigterm_cancels_on_a_terminal_too() -> None:
    keys, said = Keys(), list[str]()
    await watch(keys, lambda _: os.kill(os.getpid(), signal.SIGTERM), said)

    assert said == [CANCELLING]
