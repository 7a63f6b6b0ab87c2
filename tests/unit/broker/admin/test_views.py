from stanchion.broker.admin.views import view_of
from stanchion.broker.attempts.attempt import Attempt


async def test_the_view_of_a_fresh_attempt_knows_little(attempt: Attempt) -> None:
    view = view_of(attempt, closed_at_ms=None, verdict=None)
    assert (view.state, view.exchanges, view.first_response_ms) == ("open", 0, None)
    assert (view.limits.declared, view.limits.source) == (128_000, "default")
    assert (view.limits.written, view.limits.observed) == (None, ())
    assert (view.effort.requested, view.effort.observed) == ("max", ())
    assert (view.reasoning_present, view.usage.output_tokens) == (None, None)
    assert (view.isolation, view.outcome, view.score) == (None, None, None)
    assert view.head == attempt.book.head
