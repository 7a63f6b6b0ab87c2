"""Who a relay meets: the one who reads a copy, the one who masks a secret, and the harness."""

from collections.abc import Callable
from typing import Protocol

from stanchion.broker.plane.frame import Frame
from stanchion.broker.plane.lookout import Lookout
from stanchion.broker.plane.spellings import Spellings


class Tap(Protocol):
    """Who reads the copy."""

    @property
    def semantic_at(self) -> float:
        """When the last bytes came that completed a semantic event; minus infinity = none did."""

    def holds_from(self, data: bytes) -> int | None:
        """Where a terminal event may start in the next bytes; None = nowhere."""

    def passed(self, data: bytes, at: float) -> None:
        """Read bytes that came at this time, now or once somebody asks what they said."""

    def passed_all(self, pieces: list[bytes], came_at: list[float], unframed: list[int]) -> None:
        """Read pieces that passed after a glance; `unframed`: which are not in the frame."""

    @property
    def frame(self) -> Frame | None:
        """By which the next pieces may be known; None = each has to be read."""

    def saw(self, data: bytes, at: float) -> None:
        """The same of bytes that were not asked about before."""

    @property
    def terminal(self) -> bool:
        """Whether the terminal event or an error came."""

    @property
    def undecided(self) -> bool:
        """Whether an event has begun that may be terminal."""

    @property
    def by_events(self) -> bool:
        """Whether the body is an event stream."""

    @property
    def lookout(self) -> Lookout:
        """For what ends it."""

    @property
    def at_rest(self) -> bool:
        """Whether nothing that it looks for may have begun."""


class Scrub(Protocol):
    """Who masks a secret."""

    spellings: Spellings

    @property
    def at_rest(self) -> bool:
        """Whether none came, and none may have begun."""

    def left(self, data: bytes) -> None:
        """Take note of bytes that passed after a glance."""

    def feed(self, data: bytes) -> bytes:
        """What may leave now of the bytes so far."""

    def close(self) -> bytes:
        """What was held back."""


class Down(Protocol):
    """Where the bytes go."""

    gone: bool

    def write(self, data: bytes) -> None:
        """Send body bytes."""

    def watch(
        self,
        *,
        on_gone: Callable[[], None],
        on_pause: Callable[[], None],
        on_resume: Callable[[], None],
    ) -> None:
        """Say when the reader is gone, or slow."""
