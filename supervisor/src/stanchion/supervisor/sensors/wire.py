"""Turns what the broker says about the wire into evidence. Pure."""

from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import ExchangeAlive, ExchangeEnded, ExchangeHeld
from stanchion.supervisor.evidence import (
    Evidence,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    StreamAlive,
)


def wire_evidence(message: ExchangeSeen | WireEvent) -> Evidence:
    """The evidence in one message of the control socket."""
    if isinstance(message, ExchangeSeen):
        return RequestStarted(exchange=message.exchange)
    match message.event:
        case ExchangeAlive(exchange=exchange):
            return StreamAlive(exchange=exchange)
        case ExchangeHeld(exchange=exchange, holding=holding):
            return RequestHeld(exchange=exchange, holding=holding)
        case ExchangeEnded(exchange=exchange, answered=answered):
            return RequestEnded(exchange=exchange, answered=answered)
