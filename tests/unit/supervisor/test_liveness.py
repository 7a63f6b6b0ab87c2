from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.supervisor.evidence import (
    Evidence,
    HarnessActive,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    StreamAlive,
    Tick,
    ToolsActive,
)
from stanchion.supervisor.liveness import Liveness

ENDED = RequestEnded(1, Answered(result=ExchangeResult.COMPLETED))


def after(*evidence: tuple[int, Evidence]) -> Liveness:
    liveness = Liveness(stream_live_ms=300_000)
    for at_ms, item in evidence:
        liveness.observe(item, active_ms=at_ms, passed_ms=at_ms)
    return liveness


def test_a_stream_is_alive_for_a_while_after_its_last_event() -> None:
    liveness = after((0, RequestStarted(1)), (1_000, StreamAlive(1)))
    assert liveness.stream_alive(300_999)
    assert not liveness.stream_alive(301_000)


def test_a_request_without_events_is_no_life() -> None:
    liveness = after((0, RequestStarted(1)), (1, Tick()))
    assert not liveness.stream_alive(1)
    assert liveness.last_sign_ms is None


def test_a_stream_that_ended_is_not_alive() -> None:
    liveness = after((0, StreamAlive(1)), (1, ENDED))
    assert not liveness.stream_alive(2)
    assert liveness.in_flight == {}


def test_life_lasts_as_long_as_the_stream_is_alive() -> None:
    alive = (0, StreamAlive(1))
    assert after(alive, (200_000, Tick())).last_sign_ms == 200_000
    assert after(alive, (200_000, ENDED), (250_000, Tick())).last_sign_ms == 200_000
    assert after(alive, (200_000, Tick()), (900_000, Tick())).last_sign_ms == 300_000
    assert after((5, HarnessActive()), (6, RequestStarted(1)), (9, Tick())).last_sign_ms == 5


def test_only_life_after_a_moment_counts_where_that_is_asked() -> None:
    liveness = after((100, StreamAlive(1)))
    assert liveness.stream_alive(200, since_ms=99)
    assert not liveness.stream_alive(200, since_ms=100)


def test_tools_and_the_harness_are_signs() -> None:
    assert after((5, ToolsActive())).last_sign_ms == 5
    assert after((6, HarnessActive())).last_sign_ms == 6
    assert after((5, ToolsActive())).tools_busy(10_005)
    assert not after((5, ToolsActive())).tools_busy(10_006)


def test_waiting_is_a_held_request_and_nothing_else() -> None:
    held = (0, RequestHeld(1, holding=True))
    assert after(held).waiting(1)
    assert not after(held, (1, RequestHeld(1, holding=False))).waiting(2)
    assert not after(held, (1, ENDED)).waiting(2)
    assert not after(held, (1, RequestStarted(2))).waiting(2)
    assert not after(held, (1, ToolsActive())).waiting(2)
    assert after(held, (1, ToolsActive())).waiting(20_000)
    assert not after().waiting(0)


def test_requests_are_counted_once() -> None:
    assert after((0, RequestStarted(1)), (0, RequestHeld(1, holding=True))).requests == 1
