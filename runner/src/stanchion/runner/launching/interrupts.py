"""Turns an interrupt into a cancel of the attempt that is watched.

The first SIGINT or SIGTERM cancels and keeps watching until the attempt is closed; a second one
stops watching, and the keeper closes the attempt by itself.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stanchion.protocol.exit_codes import ExitCode


@dataclass(slots=True)
class Interrupts:
    """What has interrupted an attempt so far."""

    cancel: asyncio.Event
    codes: list[ExitCode] = field(default_factory=list)

    @property
    def code(self) -> ExitCode | None:
        """Of the first interrupt."""
        return self.codes[0] if self.codes else None


@contextmanager
def cancelling(
    cancel: asyncio.Event, *, timeout_s: float | None, say: Callable[[str], None]
) -> Iterator[Interrupts]:
    """While inside, interrupts and the command's own timeout set `cancel`."""
    seen = Interrupts(cancel)
    loop, main = asyncio.get_running_loop(), asyncio.current_task()

    def interrupt(code: ExitCode) -> None:
        if cancel.is_set():
            if code is ExitCode.INTERRUPTED and main is not None:
                main.cancel()
            return
        say("cancelling: the agent is stopped and the attempt closed")
        seen.codes.append(code)
        cancel.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt, ExitCode.INTERRUPTED)
    timer = None if timeout_s is None else loop.call_later(timeout_s, interrupt, ExitCode.TIMEOUT)
    try:
        yield seen
    except asyncio.CancelledError:
        if not seen.codes:
            raise
        raise SystemExit(ExitCode.INTERRUPTED) from None
    finally:
        if timer is not None:
            timer.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
