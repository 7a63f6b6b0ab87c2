"""An account that is refused: recognised, and said in one sentence."""

import pytest
from tests.fakes.results import a_result

from stanchion.protocol.codec import encode_line
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import Denied, ExchangeEnd
from stanchion.protocol.refusal import refuse
from stanchion.runner.jobs.trip import Trip, trip_line, trip_of_refusal, trip_of_result

REFUSED = a_result(EndReason.PROVIDER_REFUSED, score=None, model="anthropic/claude-x")


def bundle(
    error: ErrorClass | None = ErrorClass.AUTH,
    words: str | None = "bad key.",
    status: int | None = 401,
) -> bytes:
    answered = Answered(
        result=ExchangeResult.PROVIDER_ERROR,
        status=status,
        error_class=error,
        error_words=words,
        provider_request_id="req_1",
    )
    end = ExchangeEnd(
        seq=2, prev="0", at_ms=1, exchange=1, answered=answered, tries=1, held_ms=0,
        secret_scrubbed=False,
    )  # fmt: skip
    return encode_line(end) + encode_line(Denied(seq=3, prev="0", at_ms=1, why="x")) + b"not json\n"


def test_the_broker_says_it_best() -> None:
    refusal = refuse(
        "account_tripped",
        field="--model",
        value="anthropic/x",
        rule="anthropic refused the key of evals/anthropic (401 auth, req_1); "
        "nothing starts under this account",
        remedy="Fix: stanchion key set evals/anthropic, then stanchion run --resume DIR",
    ).refusal
    trip = trip_of_refusal(refusal)

    assert trip is not None
    assert trip_line(trip, unscored=2, not_started=148, folder="out") == (
        "anthropic refused the key of evals/anthropic (401 auth, req_1). "
        "2 attempts ended unscored, 148 not started. "
        "Fix: stanchion key set evals/anthropic, then stanchion run --resume out"
    )
    assert trip_of_refusal(refuse("x", field="f", value=None, rule="r", remedy="m").refusal) is None


def test_the_receipts_of_one_that_ended_so_say_the_same() -> None:
    trip = trip_of_result(REFUSED, "evals", bundle())

    assert trip == Trip(
        what="anthropic refused the key of evals/anthropic (401 auth, req_1): bad key",
        fix="stanchion key set evals/anthropic, then stanchion run --resume DIR",
    )
    line = trip_line(trip, unscored=1, not_started=0, folder="o")
    assert "1 attempt ended unscored, 0 not started" in line


def test_the_providers_own_answer_counts_before_what_followed_from_it_here() -> None:
    followed = bundle(words="another request showed it", status=None)
    trip = trip_of_result(REFUSED, "evals", bundle() + followed)

    assert trip is not None
    assert trip.what.endswith("(401 auth, req_1): bad key")
    later = bundle(ErrorClass.RATE_LIMITED)
    assert trip_of_result(REFUSED, "evals", bundle() + later) is None


def test_of_several_trips_the_one_that_is_known_best_is_said() -> None:
    derived = trip_of_result(REFUSED, "evals", bundle(status=None))
    seen = trip_of_result(REFUSED, "evals", bundle())

    assert derived is not None
    assert seen is not None
    assert derived.or_better(seen) is seen
    assert seen.or_better(derived) is seen
    assert seen.or_better(None) is seen
    assert seen.or_better(Trip(what="w", fix="f", rank=2)).what == "w"


@pytest.mark.parametrize("error", [ErrorClass.MODEL_NOT_FOUND, ErrorClass.RATE_LIMITED, None])
def test_other_refusals_are_not_the_accounts(error: ErrorClass | None) -> None:
    assert trip_of_result(REFUSED, "evals", bundle(error)) is None


def test_without_a_word_of_the_provider_it_still_is() -> None:
    trip = trip_of_result(REFUSED, "evals", bundle(ErrorClass.BILLING, None))

    assert trip is not None
    assert trip.what == "anthropic refused to bill evals/anthropic (401 billing, req_1)"


def test_an_attempt_that_ended_otherwise_or_without_receipts_says_nothing() -> None:
    dead = a_result(EndReason.HARNESS_EXIT, score=None)

    assert trip_of_result(dead, "evals", bundle()) is None
    assert trip_of_result(REFUSED, "evals", b"") is None
