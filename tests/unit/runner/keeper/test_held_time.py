from stanchion.protocol.events import ExchangeEnded, ExchangeHeld, RequestDenied
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.runner.keeper.held_time import HeldTime


def hold(exchange: int) -> ExchangeHeld:
    return ExchangeHeld(exchange=exchange, holding=True)


def go(exchange: int) -> ExchangeHeld:
    return ExchangeHeld(exchange=exchange, holding=False)


def test_holds_are_added_up_and_one_under_way_counts() -> None:
    held = HeldTime()
    for event, at_ms in ((hold(1), 100), (go(1), 350), (RequestDenied(why="x"), 400)):
        held.take(event, at_ms)
    assert (held.until(1_000), held.until(2_000)) == (250, 250)
    held.take(hold(1), 2_000)
    assert held.until(2_500) == 750


def test_holds_at_the_same_time_count_once() -> None:
    held = HeldTime()
    for event, at_ms in ((hold(1), 100), (hold(2), 200), (go(1), 300), (go(2), 500)):
        held.take(event, at_ms)
    assert held.until(900) == 400


def test_the_end_of_a_request_ends_its_hold() -> None:
    held = HeldTime()
    held.take(hold(1), 100)
    held.take(ExchangeEnded(exchange=1, answered=Answered(result=ExchangeResult.REVOKED)), 150)
    assert held.until(900) == 50
