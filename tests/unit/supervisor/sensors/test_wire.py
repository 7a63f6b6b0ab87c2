import pytest

from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import ExchangeAlive, ExchangeEnded, ExchangeHeld
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.supervisor.evidence import (
    Evidence,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    StreamAlive,
)
from stanchion.supervisor.sensors.wire import wire_evidence

ANSWERED = Answered(result=ExchangeResult.COMPLETED)


@pytest.mark.parametrize(
    ("message", "evidence"),
    [
        (ExchangeSeen(exchange=3), RequestStarted(3)),
        (WireEvent(event=ExchangeAlive(exchange=3)), StreamAlive(3)),
        (WireEvent(event=ExchangeHeld(exchange=3, holding=True)), RequestHeld(3, holding=True)),
        (WireEvent(event=ExchangeEnded(exchange=3, answered=ANSWERED)), RequestEnded(3, ANSWERED)),
    ],
)
def test_each_message_is_its_evidence(
    message: ExchangeSeen | WireEvent, evidence: Evidence
) -> None:
    assert wire_evidence(message) == evidence
