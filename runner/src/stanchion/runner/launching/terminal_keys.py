"""The terminal of a person who is asked something while a command watches.

Reads single keys without waiting for a line; Ctrl-C stays a signal. Leaves the terminal as it was.
"""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

STANDARD = (0, 1, 2)
LOCAL_MODES = 3
"""Place of the local modes in what tcgetattr returns."""
Modes = list[Any]


class Terminal:
    """Keys from one descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at_first: Modes | None = None
        self._before: Modes | None = None
        self._ours = [number for number in STANDARD if os.isatty(number)]

    @classmethod
    def of_this_process(cls) -> "Terminal | None":
        """Where somebody can be asked and can answer; None off a terminal."""
        if sys.stdin is None or not (os.isatty(0) and os.isatty(2)):
            return None
        return cls(0)

    def __enter__(self) -> Self:
        with suppress(termios.error):
            self._at_first = termios.tcgetattr(self._descriptor)
            quiet = termios.tcgetattr(self._descriptor)
            quiet[LOCAL_MODES] &= ~termios.ECHOCTL  # a "^C" would displace what is drawn
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, quiet)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()
        if self._at_first is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._at_first)

    def ask(self, answer: Callable[[str], None]) -> None:
        """Call with the next key that is pressed."""
        if self._before is None:
            self._before = termios.tcgetattr(self._descriptor)
            tty.setcbreak(self._descriptor, termios.TCSADRAIN)
        asyncio.get_running_loop().add_reader(self._descriptor, self._read, answer)

    def _read(self, answer: Callable[[str], None]) -> None:
        try:
            key = os.read(self._descriptor, 64)
        except OSError:
            key = b""
        self._restore()
        answer(key[:1].decode(errors="replace"))

    def _restore(self) -> None:
        with suppress(RuntimeError, ValueError):
            asyncio.get_running_loop().remove_reader(self._descriptor)
        if self._before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
            self._before = None

    def forget(self) -> None:
        """It is gone: what is still written to it goes nowhere instead of failing."""
        self._restore()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in self._ours:
            os.dup2(nowhere, number)
        os.close(nowhere)
