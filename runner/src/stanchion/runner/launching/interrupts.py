"""What an interrupt does to a command that watches attempts, which belong to their keepers.

On a terminal the first Ctrl-C asks: detach or cancel; the second cancels. Off a terminal SIGINT and
SIGTERM cancel. A terminal that goes away (SIGHUP) detaches. Once cancelled, the watching goes on
until the attempt is closed; one more interrupt ends the watching alone.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.launching.terminal_keys import Terminal

QUESTION = "d = detach (it goes on without you)   c = cancel it   any other key = go on watching"
CANCELLING = "cancelling: the agent is stopped and the attempt closed"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Interrupts:
    """What has interrupted an attempt so far."""

    cancel: asyncio.Event
    say: Callable[[str], None]
    rejoin: str
    """The command that watches again."""
    terminal: Terminal | None
    watcher: "asyncio.Task[object] | None"
    codes: list[ExitCode] = field(default_factory=list)
    detached: bool = False
    asking: bool = False

    @property
    def code(self) -> ExitCode | None:
        """Of the first interrupt that cancelled."""
        return self.codes[0] if self.codes else None

    def interrupt(self) -> None:
        """Ctrl-C, or SIGINT from anywhere."""
        if self.cancel.is_set():
            self._leave()
        elif self.terminal is not None and not self.asking:
            self.asking = True
            self.say(QUESTION)
            self.terminal.ask(self.answer)
        else:
            self.order_cancel(ExitCode.INTERRUPTED)

    def terminate(self) -> None:
        """SIGTERM."""
        if self.cancel.is_set():
            self._leave()
        else:
            self.order_cancel(ExitCode.INTERRUPTED)

    def time_out(self) -> None:
        """The command's own --timeout."""
        if not self.cancel.is_set():
            self.order_cancel(ExitCode.TIMEOUT)

    def hang_up(self) -> None:
        """The terminal is gone: nobody reads any more, and writing to it fails."""
        if self.terminal is not None:
            self.terminal.forget()
        self.detach()

    def answer(self, key: str) -> None:
        """The key that was pressed after the question."""
        self.asking = False
        if key.lower() == "d":
            self.detach()
        elif key.lower() == "c" and not self.cancel.is_set():
            self.order_cancel(ExitCode.INTERRUPTED)

    def order_cancel(self, code: ExitCode) -> None:
        """Cancel, and go on watching."""
        self.asking = False
        self.say(CANCELLING)
        self.codes.append(code)
        self.cancel.set()

    def detach(self) -> None:
        """End the watching alone."""
        self.detached = True
        self._leave()

    def _leave(self) -> None:
        if self.watcher is not None:
            self.watcher.cancel()

    def last_words(self) -> SystemExit:
        """Why the watching ended, and how the command does."""
        if not self.detached:
            return SystemExit(ExitCode.INTERRUPTED)
        self.say(f"detached; it goes on without you. Watch it again with: {self.rejoin}")
        return SystemExit(ExitCode.OK)


@contextmanager
def cancelling(
    cancel: asyncio.Event,
    *,
    timeout_s: float | None,
    say: Callable[[str], None],
    rejoin: str = "stanchion ps",
    terminal: Terminal | None = None,
) -> Iterator[Interrupts]:
    """While inside, interrupts and the command's own timeout set `cancel`, or end the watching."""
    loop = asyncio.get_running_loop()
    seen = Interrupts(cancel, say, rejoin, terminal, asyncio.current_task())
    handlers = {signal.SIGINT: seen.interrupt, signal.SIGTERM: seen.terminate}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
        handlers[signal.SIGHUP] = seen.hang_up
    with ExitStack() as stack:
        if terminal is not None:
            stack.enter_context(terminal)
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
            stack.callback(loop.remove_signal_handler, number)
        if timeout_s is not None:
            stack.callback(loop.call_later(timeout_s, seen.time_out).cancel)
        try:
            yield seen
        except asyncio.CancelledError:
            if not seen.codes and not seen.detached:
                raise
            raise seen.last_words() from None
