"""A person at a real terminal: what they see, and the keys that they press."""

import asyncio
import fcntl
import os
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import Self

CTRL_C = b"\x03"
WAITS_S = 60


@dataclass
class Person:
    """Their end of the terminal, and the command that runs on it."""

    keyboard: int
    process: subprocess.Popen[bytes]
    seen: bytes = b""

    @classmethod
    def types(cls, *words: str) -> Self:
        """`stanchion` with these words."""
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
        """Read on until these words are there."""
        while words.encode() not in self.seen:
            self.seen += await asyncio.to_thread(os.read, self.keyboard, 65536)

    def presses(self, keys: bytes) -> None:
        """Keys."""
        os.write(self.keyboard, keys)

    def hangs_up(self) -> None:
        """The line is gone."""
        os.close(self.keyboard)

    async def waits(self) -> int:
        """The command's exit code."""
        return await asyncio.to_thread(self.process.wait, WAITS_S)
