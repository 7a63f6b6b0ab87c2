"""Adds up, from an attempt's events, the time in which the broker held its requests. Pure.

Requests that were held at the same time count once. The host's deadline stands still meanwhile.
"""

from dataclasses import dataclass, field

from stanchion.protocol.events import Event, ExchangeEnded, ExchangeHeld, Unknown


@dataclass(slots=True)
class HeldTime:
    """The sum so far."""

    _held: set[int] = field(default_factory=set)
    _since_ms: int = 0
    _total_ms: int = 0

    def take(self, event: Event | Unknown, at_ms: int) -> None:
        """One event of the attempt, in order."""
        before = bool(self._held)
        match event:
            case ExchangeHeld(exchange=exchange, holding=True):
                self._held.add(exchange)
            case ExchangeHeld(exchange=exchange) | ExchangeEnded(exchange=exchange):
                self._held.discard(exchange)
            case _:
                return
        if not before and self._held:
            self._since_ms = at_ms
        elif before and not self._held:
            self._total_ms += max(0, at_ms - self._since_ms)

    def until(self, now_ms: int) -> int:
        """In milliseconds, a hold that is under way included."""
        running = max(0, now_ms - self._since_ms) if self._held else 0
        return self._total_ms + running
