import msgspec
import pytest

from stanchion.broker.attempts.spending import Room, Spending
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.launch import Budget
from stanchion.protocol.usage import Usage


def good(tokens: int | None) -> Answered:
    usage = None if tokens is None else Usage(output_tokens=tokens)
    return Answered(result=ExchangeResult.COMPLETED, status=200, usage=usage)


def test_without_a_budget_there_is_always_room() -> None:
    spending = Spending(Budget())
    for number in range(1, 100):
        spending.start(number, output_limit=128_000)
        spending.end(number, good(None))
    assert spending.room is Room.OPEN


def test_requests_are_counted() -> None:
    spending = Spending(Budget(requests=2))
    for number in (1, 2):
        assert spending.room is Room.OPEN
        spending.start(number, output_limit=None)
    assert spending.room is Room.SPENT
    assert spending.words == "budget spent: 2 of 2 requests"


def test_what_is_reported_takes_the_place_of_what_was_reserved() -> None:
    spending = Spending(Budget(output_tokens=1_000))
    spending.start(1, output_limit=900)
    spending.end(1, good(10))
    assert (spending.room, spending.spent_tokens) == (Room.OPEN, 10)


def test_what_is_under_way_may_use_up_the_rest_and_has_to_end_first() -> None:
    spending = Spending(Budget(output_tokens=1_000))
    spending.start(1, output_limit=900)
    assert spending.room is Room.OPEN
    spending.start(2, output_limit=900)
    assert spending.room is Room.LATER
    spending.end(1, good(400))
    spending.end(2, good(600))
    assert spending.room is Room.SPENT


def test_an_answer_without_a_report_keeps_its_reservation_and_it_is_said() -> None:
    spending = Spending(Budget(output_tokens=1_000, requests=9))
    spending.start(1, output_limit=900)
    spending.end(1, good(None))
    spending.start(2, output_limit=900)
    spending.end(2, good(150))
    assert spending.room is Room.SPENT
    assert spending.words == (
        "budget spent: 2 of 9 requests, 1050 of 1000 output tokens, "
        "900 of them reserved for 1 answers that reported no usage"
    )


@pytest.mark.parametrize(
    ("answered", "kept"),
    [
        (Answered(result=ExchangeResult.PROVIDER_ERROR, status=429), 0),
        (Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE), 0),
        (Answered(result=ExchangeResult.NOT_SENT), 0),
        (Answered(result=ExchangeResult.CLIENT_GONE), 500),
        (Answered(result=ExchangeResult.TRUNCATED, status=200), 500),
    ],
)
def test_only_an_answer_that_may_have_cost_keeps_it(answered: Answered, kept: int) -> None:
    spending = Spending(Budget(output_tokens=1_000))
    spending.start(1, output_limit=500)
    spending.end(1, answered)
    assert spending.spent_tokens == kept


def test_reasoning_that_the_output_does_not_include_is_spent_as_well() -> None:
    spending = Spending(Budget(output_tokens=1_000))
    for exchange, includes, reasoning in ((1, False, 300), (2, True, 300), (3, None, 300)):
        usage = Usage(output_tokens=10, reasoning_tokens=reasoning)
        spending.start(exchange, output_limit=900)
        spending.end(
            exchange,
            msgspec.structs.replace(good(10), usage=usage, output_includes_reasoning=includes),
        )
    spending.start(4, output_limit=900)
    spending.end(4, msgspec.structs.replace(good(10), output_includes_reasoning=False))
    assert spending.spent_tokens == 10 * 4 + 300


def test_an_ambiguous_sending_keeps_a_reservation_of_its_own() -> None:
    spending = Spending(Budget(output_tokens=2_000))
    spending.start(1, output_limit=900)
    spending.tried(1, ambiguous=False)
    spending.tried(1, ambiguous=True)
    spending.end(1, good(10))
    assert (spending.spent_tokens, spending.unreported) == (910, 1)
    spending.start(2, output_limit=900)
    spending.tried(2, ambiguous=True)
    spending.end(2, Answered(result=ExchangeResult.CLIENT_GONE, ambiguous=True), sent=False)
    assert (spending.spent_tokens, spending.unreported) == (1_810, 2)


def test_a_request_that_left_its_place_before_it_was_sent_cost_nothing() -> None:
    spending = Spending(Budget(output_tokens=1_000))
    spending.start(1, output_limit=900)
    spending.end(1, Answered(result=ExchangeResult.CLIENT_GONE), sent=False)
    assert spending.spent_tokens == 0
