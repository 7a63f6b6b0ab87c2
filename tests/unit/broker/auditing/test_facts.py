import msgspec

from fakes.receipts import (
    Writing,
    asked,
    closed,
    ending,
    exchange_end,
    exchange_start,
    exchange_try,
    frozen_launch,
    honest,
    run_open,
    run_started,
)
from stanchion.broker.auditing.facts import Along, Answers, Facts, Seen, gather
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.exchange import Answered, ExchangeResult, Mismatch
from stanchion.protocol.launch import Effort, SideRequest
from stanchion.protocol.receipt import (
    Denied,
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    Mismatched,
    RunOpen,
    RunStarted,
)
from stanchion.protocol.usage import Usage

TITLE = SideRequest(name="title", body_contains="write a title", max_output_tokens=100)


def facts(bundle: bytes) -> Facts:
    found = verify(bundle)
    assert isinstance(found, Verified)
    return gather(found)


def test_an_honest_run_carries_its_terms_on_every_request() -> None:
    found = facts(closed(exchanges=3))

    assert found.output_limit == Along(
        requested=128_000,
        source="default",
        written=128_000,
        on_the_wire=(Seen(value=128_000, requests=3),),
    )
    assert found.effort.on_the_wire == (Seen(value="max", requests=3),)
    assert found.model.on_the_wire == (Seen(value="Qwen/Qwen3", requests=3),)
    assert (found.requests, found.side_requests, found.completed) == (3, 0, 3)
    assert (found.harness, found.account, found.isolation) == ("opencode@1.18.33", "vllm", ("M2",))
    assert (found.outcome, found.grade, found.score) == ("completed", "graded", "1.0")


def test_each_value_on_the_wire_is_counted_in_order_of_first_sight() -> None:
    efforts = ["max", None, "max", "low"]
    writing = honest(exchanges=4, sent=lambda number: asked(effort=efforts[number - 1]))

    assert facts(writing.close(**ending())).effort.on_the_wire == (
        Seen(value="max", requests=2),
        Seen(value=None, requests=1),
        Seen(value="low", requests=1),
    )


def test_what_never_happened_is_unknown_and_not_zero() -> None:
    found = facts(Writing().add(RunOpen, **run_open()).bundle())

    assert (found.effort.written, found.output_limit.written, found.isolation) == (None, None, ())
    assert (found.outcome, found.grade, found.score) == (None, None, None)
    assert found.model.on_the_wire == ()


def side_run(side: str | None, limit: int | None) -> Facts:
    launch = frozen_launch(side_requests=(TITLE,))
    writing = Writing().add(RunOpen, **run_open(launch)).add(RunStarted, **run_started())
    writing.add(ExchangeStart, **exchange_start(1))
    writing.add(ExchangeStart, **exchange_start(2, sent=asked(limit=limit), side=side))
    return facts(writing.close(**ending()))


def test_a_declared_side_request_is_kept_apart() -> None:
    found = side_run("title", 100)

    assert (found.requests, found.side_requests) == (1, 1)
    assert found.output_limit.on_the_wire == (Seen(value=128_000, requests=1),)


def test_no_request_is_excused_by_its_receipt() -> None:
    assert side_run("quota", 100).side_requests == 0
    assert side_run("title", 101).side_requests == 0
    assert side_run("title", None).side_requests == 0
    assert side_run(None, 100).side_requests == 0


def test_denials_mismatches_and_corrections_are_counted() -> None:
    mismatch = Mismatch(exchange=2, field="effort", declared="max", observed="low")
    writing = honest(exchanges=1)
    writing.add(Denied, why="route").add(Denied, why="body")
    writing.add(Mismatched, mismatch=mismatch, enforced=True)
    writing.add(ExchangeStart, **(exchange_start(2) | {"corrections": ("max_tokens",)}))
    writing.add(ExchangeEnd, **exchange_end(2))

    found = facts(writing.close(**ending("mismatch", score=None)))
    assert (found.denied, found.mismatches, found.corrected) == (2, 1, 1)


def test_tries_and_held_time_are_summed() -> None:
    writing = honest(exchanges=1).add(ExchangeStart, **exchange_start(2))
    writing.add(ExchangeTry, **exchange_try(2, 1))
    writing.add(ExchangeEnd, **exchange_end(2, tries=2, held_ms=2100, gave_up="too long"))

    found = facts(writing.close(**ending("rate_limited", score=None)))
    assert (found.sendings, found.held_ms, found.gave_up) == (3, 2100, 1)


def test_calls_and_sendings_are_counted_apart() -> None:
    lost = {**exchange_try(1, 1), "status": None, "ambiguous": True}
    writing = Writing().add(RunOpen, **run_open())
    writing.add(ExchangeStart, **{**exchange_start(1), "call": 1})
    writing.add(ExchangeTry, **lost)
    unreached = Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE, ambiguous=True)
    writing.add(ExchangeEnd, **{**exchange_end(1), "answered": unreached})
    writing.add(ExchangeStart, **{**exchange_start(2), "call": 1})
    writing.add(ExchangeTry, **exchange_try(2, 1))
    writing.add(ExchangeEnd, **exchange_end(2, tries=2))
    writing.add(ExchangeStart, **exchange_start(3))
    found = facts(writing.close(**ending()))

    assert (found.requests, found.calls, found.sendings, found.ambiguous) == (3, 2, 3, 1)


def test_what_responses_named_reported_and_called_is_counted() -> None:
    writing = Writing().add(RunOpen, **run_open()).add(RunStarted, **run_started())
    answers = [
        Answered(result=ExchangeResult.COMPLETED, model_served="Qwen/Qwen3", tool_calls=2,
                 usage=Usage(output_tokens=1)),
        Answered(result=ExchangeResult.COMPLETED, model_served="other", usage=Usage()),
        Answered(result=ExchangeResult.COMPLETED),
        Answered(result=ExchangeResult.TRUNCATED, model_served="never"),
    ]  # fmt: skip
    for number, answered in enumerate(answers, 1):
        writing.add(ExchangeStart, **exchange_start(number))
        writing.add(ExchangeEnd, **{**exchange_end(number), "answered": answered})
    found = facts(writing.close(**{**ending(), "flags": ("model_differs",)}))

    assert found.answers == Answers(
        served=(
            Seen(value="Qwen/Qwen3", requests=1),
            Seen(value="other", requests=1),
            Seen(value=None, requests=1),
        ),
        without_usage=2,
        tool_calls=2,
    )
    assert found.close_flags == ("model_differs",)
    assert found.thinking_budget is None


def test_a_thinking_budget_that_was_asked_for_is_followed_to_the_wire() -> None:
    launch = frozen_launch(effort=Effort(word="max", thinking_budget=4096))
    writing = Writing().add(RunOpen, **run_open(launch)).add(RunStarted, **run_started())
    for number, budget in enumerate((4096, None), 1):
        sent = msgspec.structs.replace(asked(), thinking_budget=budget)
        writing.add(ExchangeStart, **exchange_start(number, sent=sent))
    found = facts(writing.bundle())

    assert found.thinking_budget is not None
    assert found.thinking_budget.requested == 4096
    assert found.thinking_budget.on_the_wire == (
        Seen(value=4096, requests=1),
        Seen(value=None, requests=1),
    )
