"""A person at a real terminal: Ctrl-C, one key, and a terminal that goes away."""

import asyncio
import fcntl
import os
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
from tests.functional.runner.running import running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.runner.keeper.order import Order
from stanchion.runner.launching.interrupts import QUESTION

pytestmark = pytest.mark.timeout(90)
CTRL_C = b"\x03"


@dataclass
class Person:
    """Their end of the terminal, and the command that runs on it."""

    keyboard: int
    process: subprocess.Popen[bytes]
    seen: bytes = b""

    @classmethod
    def types(cls, *words: str) -> Self:
        keyboard, terminal = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "stanchion.runner", *words],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(terminal)
        return cls(keyboard, process)

    async def sees(self, words: str) -> None:
        while words.encode() not in self.seen:
            self.seen += await asyncio.to_thread(os.read, self.keyboard, 65536)

    def presses(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def hangs_up(self) -> None:
        os.close(self.keyboard)

    async def waits(self) -> int:
        return await asyncio.to_thread(self.process.wait, 30)


async def test_detaching_by_hand_or_by_a_dropped_line_leaves_the_attempt_to_its_keeper(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        words = ("attach", attempt.id, "--state-dir", str(paths.root))
        asked = Person.types(*words)
        await asked.sees("stages")
        asked.presses(CTRL_C)
        await asked.sees(QUESTION)
        asked.presses(b"d")
        await asked.sees(f"stanchion attach {attempt.id}")
        assert await asked.waits() == 0
        asked.hangs_up()

        dropped = Person.types(*words)
        await dropped.sees("stages")
        dropped.hangs_up()
        assert await dropped.waits() == 0

        async with BrokerClient(paths.admin_socket) as broker:
            assert (await broker.run(attempt.id)).state == "open"

        impatient = Person.types(*words)
        await impatient.sees("stages")
        impatient.presses(CTRL_C)
        await impatient.sees(QUESTION)
        impatient.presses(CTRL_C)
        await impatient.sees("ENDED  cancelled")
        assert await impatient.waits() == 130
        impatient.hangs_up()
