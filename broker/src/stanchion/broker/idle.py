"""When a broker that a command started by the way may go: nobody has needed it for long enough.

An open attempt needs it, and so does whoever asks it something. A scrape of figures does not.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

LOOKS = 4
"""In the time after which it may go: an attempt is seen to end no later than a quarter of it."""


@dataclass(slots=True, kw_only=True)
class Idle:
    """One broker's; `after_s` None = it stays until it is told to end."""

    after_s: float | None
    busy: Callable[[], bool]
    """Whether attempts are open."""
    clock_s: Callable[[], float]
    _needed_at_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.needed()

    def needed(self) -> None:
        """Somebody asked something."""
        self._needed_at_s = self.clock_s()

    @property
    def over(self) -> bool:
        """Whether it may go now."""
        if self.busy():
            self.needed()
        return self.after_s is not None and self.clock_s() - self._needed_at_s >= self.after_s

    async def watch(self, end: Callable[[], None]) -> None:
        """Call `end` once it is over."""
        if self.after_s is None:
            return
        while not self.over:  # noqa: ASYNC110 - time itself is what it waits for
            await asyncio.sleep(self.after_s / LOOKS)
        end()
