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
from stanchion.supervisor.sensors.wire import WireSense

ANSWERED = Answered(result=ExchangeResult.COMPLETED)


@pytest.mark.parametrize(
    ("message", "evidence"),
    [
        (ExchangeSeen(exchange=3), RequestStarted(3)),
        (WireEvent(event=ExchangeAlive(exchange=3)), StreamAlive(3)),
        (WireEvent(event=ExchangeHeld(exchange=3, holding=True)), RequestHeld(3, holding=True)),
        (WireEvent(event=ExchangeEnded(exchange=3, answered=ANSWERED)), RequestEnded(3, ANSWERED)),
        (
            WireEvent(event=ExchangeEnded(exchange=3, answered=ANSWERED, side="title")),
            RequestEnded(3, ANSWERED, side=True),
        ),
    ],
)
def test_each_message_is_its_evidence(
    message: ExchangeSeen | WireEvent, evidence: Evidence
) -> None:
    assert WireSense().evidence(message) == evidence


def test_what_a_later_broker_says_again_is_no_new_evidence() -> None:
    sense = WireSense()
    seen = ExchangeSeen(exchange=3)
    ended = WireEvent(event=ExchangeEnded(exchange=3, answered=ANSWERED))
    alive = WireEvent(event=ExchangeAlive(exchange=4))
    first = [sense.evidence(message) for message in (seen, alive, ended)]
    again = [sense.evidence(message) for message in (seen, alive, ended)]
    assert first == [RequestStarted(3), StreamAlive(4), RequestEnded(3, ANSWERED)]
    assert again == [None, StreamAlive(4), None]


@pytest.mark.parametrize(
    "late", [ExchangeAlive(exchange=3), ExchangeHeld(exchange=3, holding=True)]
)
def test_what_comes_about_a_request_that_has_ended_is_nothing(
    late: ExchangeAlive | ExchangeHeld,
) -> None:
    """A hold that nobody lifts would stop every clock."""
    sense = WireSense()
    sense.evidence(WireEvent(event=ExchangeEnded(exchange=3, answered=ANSWERED)))
    assert sense.evidence(WireEvent(event=late)) is None
