import msgspec

from stanchion.broker.attempts.wire_fold import WireFold
from stanchion.broker.plane.dialects.openai_chat import read_request
from stanchion.protocol.call_match import SentCalls
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish, Mismatch
from stanchion.protocol.usage import Usage

GOOD = Answered(
    result=ExchangeResult.COMPLETED,
    status=200,
    finish=Finish.STOP,
    text_present=True,
    reasoning_present=True,
    model_served="m",
    usage=Usage(input_tokens=1, output_tokens=2),
)
REFUSED = Answered(result=ExchangeResult.PROVIDER_ERROR, status=401, error_class=ErrorClass.AUTH)


SENT = read_request({"max_tokens": 5, "reasoning_effort": "low"}, b"")


def folded(*answers: Answered) -> WireFold:
    wire = WireFold()
    for number, answer in enumerate(answers):
        wire.started(number, SENT)
        wire.ended(number, answer, at_ms=100 + number, scrubbed=False)
    return wire


def test_nothing_seen_is_unknown_not_zero() -> None:
    facts = WireFold().facts(enforced=True)
    assert (facts.exchanges, facts.last_finish, facts.last_result_ok) == (0, None, None)
    assert facts.last_has_content is None
    assert WireFold().usage == Usage()
    assert WireFold().reasoning_present is None


def test_completed_responses_are_summed() -> None:
    wire = folded(GOOD, GOOD)
    facts = wire.facts(enforced=True)
    assert (facts.exchanges, facts.completed, facts.last_result_ok) == (2, 2, True)
    assert (wire.usage.output_tokens, wire.usage.reasoning_tokens) == (4, None)
    assert facts.models_served == ("m",)
    assert wire.first_completed_at_ms == 100


def test_a_completed_response_without_content_is_whole_all_the_same() -> None:
    empty = Answered(result=ExchangeResult.COMPLETED, status=200, finish=Finish.LENGTH)
    facts = folded(empty, GOOD, REFUSED).facts(enforced=True)
    assert (facts.completed, facts.whole) == (1, 2)
    assert folded(GOOD, empty).facts(enforced=True).last_has_content is False
    assert folded(empty, GOOD).facts(enforced=True).last_has_content is True


def test_whoever_hung_up_is_told_from_an_answer_that_broke_off() -> None:
    left = {ExchangeResult.CLIENT_GONE, ExchangeResult.REVOKED}
    for result in ExchangeResult:
        facts = folded(GOOD, Answered(result=result, status=200)).facts(enforced=True)
        assert facts.last_left is (result in left)
    assert WireFold().facts(enforced=True).last_left is None


def test_one_response_without_usage_makes_the_sum_unknown() -> None:
    silent = Answered(result=ExchangeResult.TRUNCATED, status=200)
    wire = folded(GOOD, silent)
    assert wire.usage == Usage()
    assert wire.reasoning_present is True


def test_a_refused_request_has_no_usage_to_miss() -> None:
    assert folded(GOOD, REFUSED).usage.output_tokens == 2


def test_only_the_last_exchange_makes_a_refusal() -> None:
    assert folded(GOOD, REFUSED).facts(enforced=True).provider_refused is ErrorClass.AUTH
    assert folded(REFUSED, GOOD).facts(enforced=True).provider_refused is None
    busy = Answered(
        result=ExchangeResult.PROVIDER_ERROR, status=429, error_class=ErrorClass.RATE_LIMITED
    )
    assert folded(busy).facts(enforced=True).provider_refused is None


def test_reasoning_is_absent_only_if_every_response_says_so() -> None:
    without = Answered(result=ExchangeResult.COMPLETED, status=200, reasoning_present=False)
    cut = Answered(result=ExchangeResult.TRUNCATED, status=200)
    assert folded(without).reasoning_present is False
    assert folded(without, cut).reasoning_present is None


def test_values_on_the_wire_are_kept_once_in_order() -> None:
    wire = WireFold()
    for limit in (5, 5, None, 4, 5):
        body = {} if limit is None else {"max_tokens": limit, "reasoning_effort": "low"}
        wire.asked(read_request(body, b""))
    assert wire.limits == [5, None, 4]
    assert wire.efforts == ["low", None]


def test_the_first_mismatch_and_any_scrubbing_stay() -> None:
    wire = WireFold()
    first = Mismatch(exchange=1, field="model", declared="a", observed="b")
    wire.differs(first)
    wire.differs(Mismatch(exchange=2, field="effort", declared="a", observed="b"))
    wire.ended(1, GOOD, at_ms=1, scrubbed=True)
    wire.ended(2, GOOD, at_ms=2, scrubbed=False)
    assert wire.facts(enforced=False).mismatch == first
    assert not wire.facts(enforced=False).enforced
    assert wire.secret_scrubbed
    assert wire.facts(enforced=True).secret_scrubbed


def test_length_stops_are_counted() -> None:
    cut = Answered(result=ExchangeResult.COMPLETED, status=200, finish=Finish.LENGTH)
    facts = folded(cut, cut, GOOD).facts(enforced=True)
    assert (facts.length_stops, facts.completed) == (2, 1)


def test_held_time_is_summed_and_giving_up_stays() -> None:
    wire = WireFold()
    wire.ended(1, GOOD, at_ms=1, scrubbed=False, held_ms=1_500)
    wire.ended(2, GOOD, at_ms=2, scrubbed=False, held_ms=500, gave_up=True)
    wire.ended(3, GOOD, at_ms=3, scrubbed=False)
    wire.budget_spent = "budget spent: 3 of 3 requests"
    facts = wire.facts(enforced=True)
    assert (facts.held_ms, facts.gave_up) == (2_000, True)
    assert facts.budget_spent == "budget spent: 3 of 3 requests"


def test_a_request_that_was_not_sent_for_its_account_is_a_refusal() -> None:
    unsent = Answered(result=ExchangeResult.NOT_SENT, error_class=ErrorClass.BILLING)
    assert folded(GOOD, unsent).facts(enforced=True).provider_refused is ErrorClass.BILLING
    held = Answered(result=ExchangeResult.NOT_SENT)
    assert folded(GOOD, held).facts(enforced=True).provider_refused is None


def test_a_side_request_is_paid_for_and_says_nothing_about_the_agent() -> None:
    title = Answered(
        result=ExchangeResult.COMPLETED,
        status=200,
        finish=Finish.LENGTH,
        text_present=True,
        reasoning_present=True,
        usage=Usage(input_tokens=10, output_tokens=20),
    )
    plain = msgspec.structs.replace(GOOD, reasoning_present=False)
    wire = WireFold()
    wire.started(1, read_request({"max_tokens": 100}, b""), side="title")
    wire.started(2, SENT)
    assert (wire.side_of(1), wire.side_of(2)) == ("title", None)
    wire.ended(2, plain, at_ms=5, scrubbed=False)
    wire.ended(1, title, at_ms=4, scrubbed=False)
    facts = wire.facts(enforced=True)
    assert (facts.exchanges, wire.side_requests, facts.completed) == (2, 1, 1)
    assert (wire.limits, wire.efforts) == ([5], ["low"])
    assert (facts.length_stops, facts.last_finish) == (0, Finish.STOP)
    assert wire.reasoning_present is False
    assert wire.first_completed_at_ms == 5
    assert wire.usage.output_tokens == 22
    assert wire.side_of(1) is None


def test_a_refused_side_request_is_not_how_the_attempt_went() -> None:
    wire = folded(GOOD)
    wire.started(7, SENT, side="probe")
    wire.ended(7, REFUSED, at_ms=9, scrubbed=False)
    assert wire.facts(enforced=True).provider_refused is None
    assert wire.facts(enforced=True).last_result_ok is True


LOST = Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE, ambiguous=True)


def test_calls_requests_and_sendings_are_three_numbers() -> None:
    """The second request is the harness's own retry of what the pacer handed back."""
    wire = WireFold()
    wire.started(1, SENT, call=1)
    wire.tried(1, ambiguous=False)
    wire.ended(1, REFUSED, at_ms=1, scrubbed=False, tries=2)
    wire.started(2, SENT, call=1)
    wire.ended(2, GOOD, at_ms=2, scrubbed=False, tries=1)
    wire.started(3, SENT, call=3)
    assert (wire.exchanges, wire.calls, wire.sendings, wire.ambiguous) == (3, 2, 3, 0)


def test_an_ambiguous_sending_makes_the_cost_unknown_even_if_another_was_answered() -> None:
    wire = WireFold()
    wire.started(1, SENT)
    wire.tried(1, ambiguous=True)
    wire.ended(1, GOOD, at_ms=1, scrubbed=False, tries=2)
    assert (wire.sendings, wire.ambiguous, wire.completed) == (2, 1, 1)
    assert wire.usage == Usage()
    assert wire.reasoning_present is True


def test_the_last_sending_is_not_counted_twice_where_the_end_came_while_it_was_held() -> None:
    wire = WireFold()
    wire.started(1, SENT)
    wire.tried(1, ambiguous=True)
    assert not wire.ends_a_sending(1, 1)
    wire.ended(1, LOST, at_ms=1, scrubbed=False, tries=1)
    assert (wire.sendings, wire.ambiguous) == (1, 1)


def test_one_that_left_and_got_no_answer_has_an_unknown_cost() -> None:
    gone = Answered(result=ExchangeResult.CLIENT_GONE)
    assert folded(GOOD, gone).usage == Usage()
    assert folded(GOOD, LOST).usage == Usage()
    without = msgspec.structs.replace(GOOD, reasoning_present=False)
    assert folded(without, LOST).reasoning_present is False, "there was no answer to have any"
    unsent = WireFold()
    unsent.started(1, SENT)
    unsent.ended(1, GOOD, at_ms=1, scrubbed=False)
    unsent.started(2, SENT)
    unsent.ended(2, gone, at_ms=1, scrubbed=False, tries=0)
    assert (unsent.usage.output_tokens, unsent.sendings) == (2, 1)
    never = Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE)
    assert folded(GOOD, never).usage.output_tokens == 2


def test_figures_that_count_different_things_are_never_added_up() -> None:
    within = msgspec.structs.replace(
        GOOD, input_includes_cache=True, output_includes_reasoning=True
    )
    beside = msgspec.structs.replace(within, output_includes_reasoning=False)
    wire = folded(within, within)
    assert (wire.usage.output_tokens, wire.output_includes_reasoning) == (4, True)
    wire = folded(within, beside)
    assert (wire.usage.input_tokens, wire.usage.output_tokens) == (2, None)
    assert (wire.input_includes_cache, wire.output_includes_reasoning) == (True, None)
    wire = folded(beside, msgspec.structs.replace(within, input_includes_cache=False))
    assert (wire.usage.input_tokens, wire.input_includes_cache) == (None, None)
    unsaid = folded(within, GOOD)
    assert (unsaid.usage.output_tokens, unsaid.output_includes_reasoning) == (4, None)


def test_a_limit_that_the_broker_wrote_is_told_from_one_that_it_found() -> None:
    wire = WireFold()
    wire.started(1, SENT, corrections=("reasoning_effort",))
    assert not wire.limit_corrected
    assert SENT.output_limit_field is not None
    wire.started(2, SENT, corrections=(SENT.output_limit_field,))
    wire.started(3, SENT)
    assert wire.limit_corrected


def test_tool_calls_of_completed_main_responses_are_kept_for_the_comparison() -> None:
    def calling(*ids: str, **more: object) -> Answered:
        return msgspec.structs.replace(GOOD, tool_calls=len(ids), tool_call_ids=ids, **more)

    wire = folded(calling("a", "b"), calling(), calling("c", result=ExchangeResult.TRUNCATED))
    wire.started(9, SENT, side="title")
    wire.ended(9, calling("d"), at_ms=1, scrubbed=False)

    assert wire.sent_calls == [SentCalls(exchange=0, calls=2, ids=("a", "b"))]
    assert not wire.more_calls
