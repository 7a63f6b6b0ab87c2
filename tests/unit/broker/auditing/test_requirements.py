import pytest

from fakes.receipts import Writing, asked, ending, honest, run_open
from stanchion.broker.auditing.facts import Facts, gather
from stanchion.broker.auditing.requirements import RequirementError, check, parse_requirement
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.receipt import RunOpen, RunStarted


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
    from fakes.receipts import run_started

    run = facts(honest().add(RunStarted, **run_started("none")).close(**ending()))

    assert check(parse_requirement("isolation=M2"), run).why == "the self-test found none"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("effort", "write it as KEY=VALUE"),
        ("effort=", "write it as KEY=VALUE"),
        ("efort=max", "the keys are effort, harness, isolation, model, outcome, output_limit"),
        ("output_limit=128k", "a whole number"),
        ("output_limit=-1", "a whole number"),
        ("output_limit=²", "a whole number"),
        ("isolation=M3", "isolation is one of M2, none"),
        ("outcome=done", "outcome is one of cancelled, "),
    ],
)
def test_a_demand_that_cannot_be_understood_is_refused(text: str, rule: str) -> None:
    with pytest.raises(RequirementError, match=rule):
        parse_requirement(text)
