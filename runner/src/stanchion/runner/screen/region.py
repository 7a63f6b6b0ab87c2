"""The region of a terminal that is drawn again and again while something runs, and goes at the end.

Decides nothing about what is in it. Where there is no terminal it is never drawn.
"""

import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live

REFRESHES_PER_SECOND = 4


class Region(ABC):
    """Drawn while the context is open, by a thread of its own; `_lock` is for what both touch."""

    def __init__(self, console: Console, *, on_screen: bool) -> None:
        self._console = console
        self._on_screen = on_screen and console.is_terminal
        self._live: Live | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        if self._on_screen:
            self._live = Live(
                console=self._console,
                get_renderable=self._draw,
                refresh_per_second=REFRESHES_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    @abstractmethod
    def _draw(self) -> RenderableType:
        """What is in it now; called by the thread that refreshes."""


def wall_ms() -> int:
    """Now, to show people how long ago something was."""
    return time.time_ns() // 1_000_000
