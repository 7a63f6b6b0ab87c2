import pytest

from stanchion.broker.plane.pacing.trips import trip_of
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.protocol.launch import AccountRef


def account(credential: str = "file:keys/evals-anthropic") -> AccountRef:
    return AccountRef(
        name="anthropic",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        base_url="https://api.example.com",
        tls=True,
        credential=credential,
        fingerprint="f",
    )


def answered(status: int, kind: ErrorClass | None, words: str | None = None) -> Answered:
    return Answered(
        result=ExchangeResult.PROVIDER_ERROR,
        status=status,
        error_class=kind,
        error_words=words,
        provider_request_id="req_1",
    )


def test_a_refused_key_names_account_answer_fix_and_how_to_go_on() -> None:
    trip = trip_of(
        answered(401, ErrorClass.AUTH, "invalid x-api-key."), profile="evals", account=account()
    )
    assert trip is not None
    assert trip.sentence == (
        "anthropic refused the key of evals/anthropic (401 auth, req_1): invalid x-api-key. "
        "Fix: stanchion key set evals/anthropic, then stanchion run --resume DIR"
    )
    refusal = trip.refusal("anthropic/claude-x")
    assert (refusal.id, refusal.value) == ("account_tripped", "anthropic/claude-x")
    assert refusal.remedy.startswith("Fix: stanchion key set evals/anthropic")


@pytest.mark.parametrize(
    ("status", "kind", "words", "said"),
    [
        (402, ErrorClass.BILLING, None, "refused to bill evals/anthropic"),
        (429, ErrorClass.QUOTA, "insufficient", "the quota of evals/anthropic is used up"),
        (403, ErrorClass.AUTH, "no permission", "refused the key of evals/anthropic"),
    ],
)
def test_bills_and_quotas_trip_too(
    status: int, kind: ErrorClass, words: str | None, said: str
) -> None:
    trip = trip_of(answered(status, kind, words), profile="evals", account=account())
    assert trip is not None
    assert said in trip.sentence


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (403, ErrorClass.AUTH, None),
        (429, ErrorClass.RATE_LIMITED, "slow down"),
        (404, ErrorClass.MODEL_NOT_FOUND, "no such model"),
        (400, ErrorClass.LIMIT_REJECTED, "max_tokens"),
        (200, None, None),
    ],
)
def test_what_speaks_of_one_request_trips_nothing(
    status: int, kind: ErrorClass | None, words: str | None
) -> None:
    assert trip_of(answered(status, kind, words), profile="evals", account=account()) is None


@pytest.mark.parametrize(
    ("credential", "fix"),
    [
        ("env:A_KEY", "export A_KEY with a good key, stanchion broker stop"),
        ("none", "mend credential of evals/anthropic, stanchion broker stop"),
    ],
)
def test_the_fix_fits_the_place_of_the_key(credential: str, fix: str) -> None:
    found = trip_of(answered(401, ErrorClass.AUTH), profile="evals", account=account(credential))
    assert found is not None
    assert fix in found.remedy
