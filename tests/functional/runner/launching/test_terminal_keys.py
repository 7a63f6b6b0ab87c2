"""A person's terminal, played by the other end of a pseudo terminal."""

import asyncio
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from stanchion.runner.launching.terminal_keys import Terminal

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    keyboard, terminal = pty.openpty()
    yield keyboard, terminal
    for descriptor in (keyboard, terminal):
        os.close(descriptor)


async def pressed(terminal: Terminal, keyboard: int, key: bytes) -> str:
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    terminal.ask(answered.set_result)
    await asyncio.to_thread(os.write, keyboard, key)
    return await answered


async def test_one_key_answers_without_a_line_and_the_terminal_is_as_before(
    ends: tuple[int, int],
) -> None:
    keyboard, other = ends
    before = termios.tcgetattr(other)
    with Terminal(other) as terminal:
        assert await pressed(terminal, keyboard, b"d") == "d"
        assert await pressed(terminal, keyboard, b"c") == "c"

    assert termios.tcgetattr(other) == before


async def test_a_question_that_stays_open_leaves_the_terminal_as_before(
    ends: tuple[int, int],
) -> None:
    before = termios.tcgetattr(ends[1])
    with Terminal(ends[1]) as terminal:
        terminal.ask(lambda _: None)
        assert termios.tcgetattr(ends[1]) != before

    assert termios.tcgetattr(ends[1]) == before


def test_off_a_terminal_nobody_is_asked() -> None:
    code = (
        "from stanchion.runner.launching.terminal_keys import Terminal as t;"
        "print(t.of_this_process())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True
    )

    assert done.stdout == b"None\n"
