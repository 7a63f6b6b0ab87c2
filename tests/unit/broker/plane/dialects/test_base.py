from stanchion.broker.plane.dialects.base import REFUSALS
from stanchion.protocol.exchange import ErrorClass


def test_what_may_pass_is_no_refusal() -> None:
    assert REFUSALS.isdisjoint(
        {ErrorClass.RATE_LIMITED, ErrorClass.OVERLOADED, ErrorClass.SERVER_ERROR}
    )
    assert ErrorClass.LIMIT_REJECTED in REFUSALS
