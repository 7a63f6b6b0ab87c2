"""The four properties from real audits of crafted receipts."""

import msgspec
import pytest

from fakes.receipts import (
    KEY,
    Writing,
    asked,
    ending,
    exchange_end,
    exchange_start,
    honest,
    run_open,
    run_started,
)
from stanchion.broker.auditing.judging import judge
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.exchange import Answered, ExchangeResult, Finish, Mismatch
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, Mismatched, RunOpen, RunStarted
from stanchion.runner.smoke.audited import Audited, Declared, SeenOnWire
from stanchion.runner.smoke.judging import Finding, Holds, Property, judge_task, overall


def audited(bundle: bytes, *, trusted: bool = True) -> Audited:
    """What the runner gets to see of a real audit, by way of its JSON."""
    found = verify(bundle)
    assert isinstance(found, Verified)
    keys = {KEY.public_key} if trusted else set()
    report = judge(found, path="out/hello__1/receipts.bundle", trusted_keys=keys)
    return msgspec.json.decode(msgspec.json.encode(report), type=Audited)


def run(
    *responses: tuple[bool | None, Finish | None],
    effort: str | None = "max",
    limit: int | None = 128_000,
) -> Audited:
    """A closed run of these responses: had reasoning or not, and stopped for this."""
    writing = Writing().add(RunOpen, **run_open()).add(RunStarted, **run_started())
    sent = asked(effort=effort, limit=limit)
    for number, (reasoning, finish) in enumerate(responses, 1):
        answered = Answered(
            result=ExchangeResult.COMPLETED, reasoning_present=reasoning, finish=finish
        )
        writing.add(ExchangeStart, **exchange_start(number, sent=sent))
        writing.add(ExchangeEnd, **{**exchange_end(number), "answered": answered})
    return audited(writing.close(**ending()))


def findings(found: Audited) -> dict[Property, Finding]:
    return {finding.property: finding for finding in judge_task(found)}


GOOD = (True, Finish.STOP)


def test_a_run_as_it_was_asked_for_passes_in_all() -> None:
    found = findings(run(GOOD, (False, Finish.TOOL_USE)))

    assert {finding.holds for finding in found.values()} == {Holds.PASSED}
    assert found[Property.EFFORT].why == "asked max, wire max x2"
    assert found[Property.LIMIT].why == "asked 128000, wire 128000 x2"
    assert found[Property.REASONING].why == "in 1 of 2 responses"
    assert found[Property.LENGTH].why == "0 of 2 responses"


@pytest.mark.parametrize(
    ("found", "which", "holds", "why"),
    [
        (run(GOOD, effort="low"), Property.EFFORT, Holds.FAILED, "asked max, wire low x1"),
        (run(GOOD, effort=None), Property.EFFORT, Holds.FAILED, "asked max, wire absent x1"),
        (run(GOOD, limit=32_000), Property.LIMIT, Holds.FAILED, "asked 128000, wire 32000 x1"),
        (run(), Property.EFFORT, Holds.UNEXERCISED, "no request was sent"),
        (run(), Property.REASONING, Holds.UNEXERCISED, "no completed response"),
        (run(), Property.LENGTH, Holds.UNEXERCISED, "no request was sent"),
        (run((False, Finish.STOP)), Property.REASONING, Holds.FAILED, "in none of 1 responses"),
        (run((None, Finish.STOP)), Property.REASONING, Holds.UNDETERMINED,
         "unknown for 1 of 1 responses"),
        (run(GOOD, (True, Finish.LENGTH)), Property.LENGTH, Holds.FAILED,
         "1 of 2 responses cut at their limit"),
        (run((True, None)), Property.LENGTH, Holds.UNDETERMINED, "1 of 1 ends unknown"),
    ],
)  # fmt: skip
def test_each_property_by_what_is_on_record(
    found: Audited, which: Property, holds: Holds, why: str
) -> None:
    finding = findings(found)[which]
    assert (finding.holds, finding.why) == (holds, why)


def test_a_request_that_was_stopped_for_differing_fails_its_property_alone() -> None:
    writing = Writing().add(RunOpen, **run_open()).add(RunStarted, **run_started())
    mismatch = Mismatch(exchange=1, field="effort", declared="max", observed="low")
    writing.add(Mismatched, mismatch=mismatch, enforced=True)
    found = findings(audited(writing.close(**ending("mismatch", score=None))))

    assert found[Property.EFFORT].holds is Holds.FAILED
    assert found[Property.EFFORT].why == "asked max, the harness sent low"
    assert found[Property.LIMIT].holds is Holds.UNEXERCISED


def test_receipts_that_nobody_vouches_for_determine_nothing() -> None:
    for found in (
        audited(honest().close(**ending()), trusted=False),
        audited(honest().bundle()),
        Audited(path="none", verdict="missing", why="the attempt left no receipts"),
    ):
        assert {finding.holds for finding in judge_task(found)} == {Holds.UNDETERMINED}
        assert found.verdict in judge_task(found)[0].why


def asking(found: Audited, **terms: object) -> Audited:
    """The same wire under other terms."""
    assert found.facts is not None
    return msgspec.structs.replace(found, facts=msgspec.structs.replace(found.facts, **terms))


def declared(requested: str | int | None, value: str | int | None) -> Declared:
    return Declared(requested=requested, on_the_wire=(SeenOnWire(value=value, requests=1),))


def test_what_nobody_asked_for_is_not_put_to_the_test() -> None:
    for word in (None, "low"):
        found = findings(asking(run(GOOD), effort=declared(None, word)))[Property.EFFORT]
        assert (found.holds, found.why) == (
            Holds.UNEXERCISED,
            f"none asked, wire {word or 'absent'} x1",
        )


def test_a_thinking_budget_is_part_of_the_effort() -> None:
    good = findings(asking(run(GOOD), thinking_budget=declared(4096, 4096)))[Property.EFFORT]
    assert (good.holds, good.why) == (
        Holds.PASSED,
        "asked max, wire max x1; thinking budget asked 4096, wire 4096 x1",
    )
    lost = asking(run(GOOD), effort=declared(None, None), thinking_budget=declared(4096, None))
    assert findings(lost)[Property.EFFORT].holds is Holds.FAILED


@pytest.mark.parametrize(
    "terms",
    [
        {"effort": declared("none", "none")},
        {"effort": declared("minimal", "minimal")},
        {"thinking_budget": declared(0, 0)},
    ],
)
def test_reasoning_that_was_not_wanted_is_not_missed(terms: dict[str, Declared]) -> None:
    found = findings(asking(run((False, Finish.STOP)), **terms))[Property.REASONING]
    assert found.holds is Holds.UNEXERCISED
    assert "asks for none" in found.why


def test_a_task_that_needs_no_reasoning_cannot_fail_for_it() -> None:
    without = run((False, Finish.STOP))
    easy = {one.property: one for one in judge_task(without, needs_reasoning=False)}

    assert easy[Property.REASONING].holds is Holds.UNEXERCISED
    assert findings(without)[Property.REASONING].holds is Holds.FAILED


def test_over_tasks_the_worst_counts() -> None:
    def of(*holds: Holds) -> list[Finding]:
        return [Finding(property=Property.LIMIT, holds=one, why="") for one in holds]

    assert overall(of(Holds.PASSED, Holds.UNEXERCISED)) is Holds.PASSED
    assert overall(of(Holds.UNEXERCISED, Holds.UNEXERCISED)) is Holds.UNEXERCISED
    assert overall(of(Holds.PASSED, Holds.UNDETERMINED)) is Holds.UNDETERMINED
    assert overall(of(Holds.UNDETERMINED, Holds.FAILED)) is Holds.FAILED
