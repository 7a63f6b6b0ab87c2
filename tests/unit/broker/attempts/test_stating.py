from typing import Any

import msgspec
import pytest

from fakes.receipts import asked
from stanchion.broker.attempts.stating import Reach, reach_of, stated, stated_request
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, FactStatus, Finish
from stanchion.protocol.usage import Usage

OBSERVED, MALFORMED = FactStatus.OBSERVED, FactStatus.MALFORMED
UNSEEN, UNSAID = FactStatus.NOT_OBSERVED, FactStatus.NOT_REPORTED
NONE_SUCH = FactStatus.NOT_APPLICABLE
WITHOUT_STATUS = {
    "tool_call_ids",
    "result", "usage_why", "ambiguous", "flags", "malformed", "facts"
}  # fmt: skip
"""Never null, or itself a reason."""


def answered(result: ExchangeResult, status: int | None = 200, **changes: Any) -> Answered:
    body = {} if status is None else {"body_sha256": "ab", "body_bytes": 2}
    return Answered(**{"result": result, "status": status, **body, **changes})


GOOD = answered(
    ExchangeResult.COMPLETED,
    finish=Finish.STOP,
    finish_raw="stop",
    model_served="m",
    usage=Usage(input_tokens=3, output_tokens=5),
    input_includes_cache=True,
    reasoning_present=False,
    text_present=True,
    tool_calls=0,
    cut_tool_calls=0,
    first_byte_ms=1,
    duration_ms=2,
)
BUSY = answered(ExchangeResult.PROVIDER_ERROR, 429, error_class=ErrorClass.RATE_LIMITED)
CUT = answered(
    ExchangeResult.TRUNCATED, error_class=ErrorClass.UPSTREAM_PROTOCOL, text_present=True
)
LOST = answered(ExchangeResult.UPSTREAM_UNREACHABLE, None, ambiguous=True)
UNREACHED = answered(ExchangeResult.UPSTREAM_UNREACHABLE, None, error_class=ErrorClass.CONNECT)
GONE = answered(ExchangeResult.CLIENT_GONE, None)
EVERY = (GOOD, BUSY, CUT, LOST, UNREACHED, GONE, answered(ExchangeResult.NOT_SENT, None))


def facts(answer: Answered, *, sent: bool = True, secure: bool = False) -> dict[str, FactStatus]:
    return stated(answer, sent=sent, secure=secure).facts


@pytest.mark.parametrize("answer", EVERY, ids=lambda one: one.result)
def test_every_value_that_may_be_null_has_a_status_and_a_null_is_never_observed(
    answer: Answered,
) -> None:
    found = facts(answer)
    names = set(Answered.__struct_fields__) - WITHOUT_STATUS
    figures = {f"usage.{name}" for name in Usage.__struct_fields__}
    assert set(found) == names | figures
    for name in names:
        assert (found[name] is OBSERVED) == (getattr(answer, name) is not None), name
    for name in figures:
        value = getattr(answer.usage or Usage(), name.partition(".")[2])
        assert (found[name] is OBSERVED) == (value is not None), name


def test_nothing_else_of_the_record_is_touched() -> None:
    assert msgspec.structs.replace(stated(GOOD, sent=True, secure=True), facts={}) == GOOD


@pytest.mark.parametrize(
    ("answer", "sent", "reach"),
    [
        (GOOD, True, Reach.WHOLE),
        (answered(ExchangeResult.PROVIDER_ERROR, 200), True, Reach.WHOLE),
        (BUSY, True, Reach.REFUSED),
        (answered(ExchangeResult.UNREADABLE, 200, body_sha256=None), True, Reach.REFUSED),
        (CUT, True, Reach.CUT),
        (answered(ExchangeResult.CLIENT_GONE), True, Reach.CUT),
        (answered(ExchangeResult.UNREADABLE), True, Reach.CUT),
        (LOST, True, Reach.UNANSWERED),
        (answered(ExchangeResult.INTERRUPTED, None), True, Reach.UNANSWERED),
        (GONE, True, Reach.UNANSWERED),
        (GONE, False, Reach.NEVER_LEFT),
        (UNREACHED, True, Reach.NEVER_LEFT),
        (answered(ExchangeResult.NOT_SENT, None), True, Reach.NEVER_LEFT),
    ],
)
def test_how_far_an_exchange_came(answer: Answered, sent: bool, reach: Reach) -> None:
    assert reach_of(answer, sent=sent) is reach


def test_a_whole_answer_that_did_not_say_did_not_report() -> None:
    found = facts(GOOD)
    assert (found["usage.input_tokens"], found["usage.reasoning_tokens"]) == (OBSERVED, UNSAID)
    assert (found["provider_request_id"], found["output_includes_reasoning"]) == (UNSAID, UNSAID)
    assert (found["error_class"], found["error_words"]) == (NONE_SUCH, NONE_SUCH)
    assert found["sent_sha256"] is NONE_SUCH


def test_what_a_cut_answer_may_have_said_was_not_observed() -> None:
    found = facts(CUT)
    assert (found["finish"], found["usage"], found["usage.output_tokens"]) == (UNSEEN,) * 3
    assert found["text_present"] is OBSERVED
    assert found["error_words"] is UNSAID
    assert found["input_includes_cache"] is NONE_SUCH


def test_an_http_error_is_no_models_response() -> None:
    found = facts(BUSY)
    assert (found["usage"], found["finish_raw"], found["reasoning_present"]) == (NONE_SUCH,) * 3
    assert (found["status"], found["body_sha256"]) == (OBSERVED, OBSERVED)


def test_nothing_applies_to_a_request_that_never_left() -> None:
    assert set(facts(answered(ExchangeResult.NOT_SENT, None)).values()) == {NONE_SUCH}
    assert facts(GONE, sent=False)["usage"] is NONE_SUCH


def test_nobody_knows_what_a_lost_answer_said() -> None:
    found = facts(LOST)
    assert (found["status"], found["usage"], found["error_class"]) == (UNSEEN,) * 3
    assert found["provider_request_id"] is UNSEEN


def test_what_cannot_be_is_malformed() -> None:
    bad = msgspec.structs.replace(
        GOOD, finish_raw=None, malformed={"usage.reasoning_tokens": "-5", "finish_raw": "7"}
    )
    found = facts(bad)
    assert (found["usage.reasoning_tokens"], found["finish_raw"]) == (MALFORMED, MALFORMED)
    assert found["usage.input_tokens"] is OBSERVED


def test_a_certificate_is_expected_only_over_tls() -> None:
    assert facts(GONE)["tls_server_name"] is NONE_SUCH
    assert facts(GONE, secure=True)["tls_server_name"] is UNSEEN
    assert facts(UNREACHED, secure=True)["tls_certificate_sha256"] is NONE_SUCH


def test_no_evidence_of_reasoning_is_not_observed_even_in_an_error_that_came_whole() -> None:
    assert facts(answered(ExchangeResult.PROVIDER_ERROR, 200))["reasoning_present"] is UNSEEN


@pytest.mark.parametrize(
    ("dialect", "elsewhere"),
    [
        (Dialect.OPENAI_CHAT, {"thinking", "thinking_budget"}),
        (Dialect.OPENAI_RESPONSES, {"thinking", "thinking_budget"}),
        (Dialect.ANTHROPIC_MESSAGES, set()),
        (Dialect.GEMINI, {"thinking", "stream"}),
    ],
)
def test_a_setting_that_a_request_does_not_have_was_not_said_or_is_none_of_the_dialects(
    dialect: Dialect, elsewhere: set[str]
) -> None:
    bare = msgspec.structs.replace(asked(limit=None, effort=None), model=None, stream=None)
    found = stated_request(bare, dialect).facts
    assert found == {
        name: NONE_SUCH if name in elsewhere else UNSAID
        for name in ("model", "output_limit", "effort", "stream", "thinking", "thinking_budget")
    }


def test_settings_are_observed_or_malformed() -> None:
    request = msgspec.structs.replace(asked(effort=None), malformed={"effort": "3"})
    found = stated_request(request, Dialect.OPENAI_CHAT).facts
    assert (found["output_limit"], found["effort"], found["model"]) == (
        OBSERVED, MALFORMED, OBSERVED
    )  # fmt: skip
