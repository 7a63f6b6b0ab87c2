import pytest

from fakes.receipts import (
    Writing,
    asked,
    ending,
    exchange_end,
    exchange_start,
    honest,
    run_open,
    run_started,
)
from stanchion.broker.auditing.facts import Facts, gather
from stanchion.broker.auditing.requirements import RequirementError, check, parse_requirement
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.exchange import Answered, ExchangeResult, Finish
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, RunOpen, RunStarted


def facts(bundle: bytes) -> Facts:
    found = verify(bundle)
    assert isinstance(found, Verified)
    return gather(found)


RUN = facts(honest(exchanges=2).close(**ending()))


@pytest.mark.parametrize(
    "text",
    [
        "effort=max",
        "output_limit=128000",
        "model=Qwen/Qwen3",
        "model=vllm/Qwen/Qwen3",
        "isolation=M2",
        "harness=opencode",
        "harness=opencode@1.18.33",
        "outcome=completed",
        "length_stops=0",
        "policy=enforce",
        "profile=evals",
    ],
)
def test_what_every_request_carried_holds(text: str) -> None:
    checked = check(parse_requirement(text), RUN)

    assert (checked.held, checked.why) == (True, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("effort=high", "2 x max"),
        ("output_limit=64000", "2 x 128000"),
        ("model=Qwen3", "2 x Qwen/Qwen3"),
        ("model=openai/Qwen/Qwen3", "2 x Qwen/Qwen3"),
        ("isolation=none", "the self-test found M2"),
        ("harness=opencode@1.18.34", "it was opencode@1.18.33"),
        ("harness=open", "it was opencode@1.18.33"),
        ("outcome=oom", "it ended completed"),
        ("policy=observe", "it was enforce"),
        ("profile=other", "it was evals"),
        ("reasoning=present", "none was seen in 0 responses, unknown for 2"),
        ("reasoning=absent", "0 responses had some, unknown for 2"),
    ],
)
def test_what_differs_is_said(text: str, why: str) -> None:
    checked = check(parse_requirement(text), RUN)

    assert (checked.held, checked.why) == (False, why)


def test_one_request_without_it_is_enough() -> None:
    efforts = ["max", "max", None]
    run = facts(honest(exchanges=3, sent=lambda n: asked(effort=efforts[n - 1])).close(**ending()))

    assert check(parse_requirement("effort=max"), run).why == "1 x absent"


def test_where_nothing_was_sent_nothing_holds() -> None:
    run = facts(Writing().add(RunOpen, **run_open()).bundle())

    for text in ("effort=max", "output_limit=128000", "model=Qwen/Qwen3"):
        assert check(parse_requirement(text), run).why == "no main request was sent"
    isolation = check(parse_requirement("isolation=M2"), run)
    assert isolation.why == "the supervisor never reported its self-test"
    assert check(parse_requirement("outcome=completed"), run).why == "it ended without a close"


def test_every_self_test_must_have_found_it() -> None:
    run = facts(honest().add(RunStarted, **run_started("none")).close(**ending()))

    assert check(parse_requirement("isolation=M2"), run).why == "the self-test found none"


def answering(*responses: tuple[bool | None, Finish | None]) -> Facts:
    """A run whose responses had reasoning, or not, and stopped for this."""
    writing = Writing().add(RunOpen, **run_open()).add(RunStarted, **run_started())
    for number, (reasoning, finish) in enumerate(responses, 1):
        answered = Answered(
            result=ExchangeResult.COMPLETED, reasoning_present=reasoning, finish=finish
        )
        writing.add(ExchangeStart, **exchange_start(number))
        writing.add(ExchangeEnd, **{**exchange_end(number), "answered": answered})
    return facts(writing.close(**ending()))


@pytest.mark.parametrize(
    ("responses", "text", "why"),
    [
        ([(True, Finish.STOP), (False, Finish.STOP)], "reasoning=present", None),
        ([(False, Finish.STOP)], "reasoning=present",
         "none was seen in 1 responses, unknown for 0"),
        ([(False, Finish.STOP)], "reasoning=absent", None),
        ([(True, Finish.STOP)], "reasoning=absent", "1 responses had some, unknown for 0"),
        ([], "reasoning=present", "no main request was answered"),
        ([(True, Finish.LENGTH)], "length_stops=0", "1 responses were cut at their limit"),
        ([(True, Finish.LENGTH)], "length_stops=1", None),
        ([(True, None)], "length_stops=0", "the end of 1 requests is unknown"),
        ([(True, Finish.UNKNOWN)], "length_stops=0", "the end of 1 requests is unknown"),
        ([], "length_stops=0", "no main request was sent"),
    ],
)  # fmt: skip
def test_what_came_back_is_held_against_the_demand(
    responses: list[tuple[bool | None, Finish | None]], text: str, why: str | None
) -> None:
    assert check(parse_requirement(text), answering(*responses)).why == why


def test_a_request_without_an_end_on_record_may_have_been_cut() -> None:
    writing = honest(exchanges=1).add(ExchangeStart, **exchange_start(2))
    run = facts(writing.close(**ending()))

    assert check(parse_requirement("length_stops=0"), run).why == "the end of 1 requests is unknown"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("effort", "write it as KEY=VALUE"),
        ("effort=", "write it as KEY=VALUE"),
        ("efort=max", "the keys are effort, harness, isolation, length_stops, model, outcome, "),
        ("output_limit=128k", "a whole number"),
        ("output_limit=-1", "a whole number"),
        ("output_limit=²", "a whole number"),
        ("isolation=M3", "isolation is one of M2, none"),
        ("outcome=done", "outcome is one of cancelled, "),
        ("policy=strict", "policy is one of enforce, observe"),
        ("reasoning=some", "reasoning is one of present, absent"),
        ("length_stops=none", "a whole number of responses"),
    ],
)
def test_a_demand_that_cannot_be_understood_is_refused(text: str, rule: str) -> None:
    with pytest.raises(RequirementError, match=rule):
        parse_requirement(text)
