"""Turns what the broker says about the wire into evidence, each fact once. Pure.

A broker that took over from another says again how the last requests ended, because it cannot know
what the other one had still told; what was heard before is no new evidence. Nor is what comes about
a request that has ended: a hold that nobody lifts would stop every clock.
"""

from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import ExchangeAlive, ExchangeEnded, ExchangeHeld
from stanchion.supervisor.evidence import (
    Evidence,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    StreamAlive,
)


class WireSense:
    """One attempt's view of the wire."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._ended: set[int] = set()

    def evidence(self, message: ExchangeSeen | WireEvent) -> Evidence | None:
        """The evidence in one message of the control socket; None = it was known."""
        if isinstance(message, ExchangeSeen):
            known = message.exchange in self._seen
            self._seen.add(message.exchange)
            return None if known else RequestStarted(exchange=message.exchange)
        if message.event.exchange in self._ended:
            return None
        match message.event:
            case ExchangeAlive(exchange=exchange):
                return StreamAlive(exchange=exchange)
            case ExchangeHeld(exchange=exchange, holding=holding):
                return RequestHeld(exchange=exchange, holding=holding)
            case ExchangeEnded(exchange=exchange, answered=answered, side=side):
                self._ended.add(exchange)
                return RequestEnded(exchange=exchange, answered=answered, side=side is not None)
