from fakes.receipts import frozen_launch
from stanchion.broker.attempts.tally import Tally
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.protocol.usage import Usage

LAUNCH = frozen_launch()
ACCOUNT = (LAUNCH.spec.profile, LAUNCH.account.name)
GOOD = Answered(result=ExchangeResult.COMPLETED, usage=Usage(input_tokens=3, output_tokens=4))
BUSY = Answered(result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.RATE_LIMITED)


def test_exchanges_are_counted_by_account_result_and_error() -> None:
    tally = Tally()
    for answered in (GOOD, GOOD, BUSY):
        tally.tried(LAUNCH, BUSY)
        tally.ended(LAUNCH, answered, sent=True, held_ms=50)
    assert tally.exchanges == {
        (ACCOUNT, "completed", ""): 2,
        (ACCOUNT, "provider_error", "rate_limited"): 1,
    }
    assert (tally.sendings[ACCOUNT], tally.held_ms[ACCOUNT]) == (6, 150)


def test_what_was_not_reported_is_in_no_sum() -> None:
    tally = Tally()
    for answered in (GOOD, BUSY):
        tally.ended(LAUNCH, answered, sent=True, held_ms=0)
    assert tally.tokens == {(ACCOUNT, "input"): 3, (ACCOUNT, "output"): 4}
    assert tally.unreported == {ACCOUNT: 1}


def test_sendings_are_counted_once_and_ambiguous_ones_apart() -> None:
    tally = Tally()
    lost = Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE, ambiguous=True)
    tally.tried(LAUNCH, lost)
    tally.ended(LAUNCH, lost, sent=False, held_ms=0)
    tally.ended(LAUNCH, lost, sent=True, held_ms=0)
    tally.ended(LAUNCH, GOOD, sent=True, held_ms=0)
    assert (tally.sendings[ACCOUNT], tally.ambiguous[ACCOUNT]) == (3, 2)
