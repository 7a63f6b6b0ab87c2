"""The four wire properties of a smoke run, judged from audited receipts. Pure.

`failed`: the record shows that it does not hold. `undetermined`: there was something to see, and
the record does not say. `unexercised`: nothing put it to the test, as where no effort was asked for
or no request was made. Only a property that held somewhere, and failed nowhere, is passed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from stanchion.runner.smoke.audited import VERIFIED, Audited, Declared, WireFacts

NO_REASONING = frozenset({"none", "minimal"})
"""Effort words that ask for no reasoning, or for so little that none is as asked (OpenAI API
reference, `reasoning_effort`; Gemini API, `thinkingLevel`)."""


class Holds(StrEnum):
    """The verdict on one property; over several tasks the first of these that any has."""

    FAILED = "failed"
    UNDETERMINED = "undetermined"
    PASSED = "passed"
    UNEXERCISED = "unexercised"


class Property(StrEnum):
    """What must hold of every main request and its response."""

    EFFORT = "effort"
    """Effort and thinking budget as asked for."""
    LIMIT = "output_limit"
    REASONING = "reasoning"
    LENGTH = "no_length_stop"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One property of one task."""

    property: Property
    holds: Holds
    why: str
    """What was seen."""


@dataclass(frozen=True, slots=True)
class _Case:
    holds: Holds
    why: str


def judge_task(audited: Audited, *, needs_reasoning: bool = True) -> tuple[Finding, ...]:
    """Every property of one attempt. `needs_reasoning`: nobody does the task without."""
    facts = audited.facts
    if audited.verdict != VERIFIED or facts is None:
        why = f"its receipts are {audited.verdict}" + (f": {audited.why}" if audited.why else "")
        cases = {name: _Case(Holds.UNDETERMINED, why) for name in Property}
    else:
        cases = {name: judge(facts) for name, judge in _JUDGES.items()}
        if not needs_reasoning and cases[Property.REASONING].holds is Holds.FAILED:
            why = f"{cases[Property.REASONING].why}; this task needs none"
            cases[Property.REASONING] = _Case(Holds.UNEXERCISED, why)
    return tuple(
        Finding(property=name, holds=case.holds, why=case.why) for name, case in cases.items()
    )


def overall(findings: Sequence[Finding]) -> Holds:
    """Of one property over all tasks."""
    order = list(Holds)
    return min((finding.holds for finding in findings), key=order.index)


def _declared(facts: WireFacts, declared: Declared, field: str, *, none_asked: str) -> _Case:
    refused = [differing for differing in facts.differing if differing.field == field]
    if refused:
        one = refused[0]
        words = f"asked {_word(one.declared)}, the harness sent {_word(one.observed)}"
        return _Case(Holds.FAILED, words)
    if not declared.on_the_wire:
        return _Case(Holds.UNEXERCISED, "no request was sent")
    seen = ", ".join(f"{_word(one.value)} x{one.requests}" for one in declared.on_the_wire)
    if declared.requested is None:
        return _Case(Holds.UNEXERCISED, f"{none_asked}, wire {seen}")
    held = {one.value for one in declared.on_the_wire} == {declared.requested}
    return _Case(Holds.PASSED if held else Holds.FAILED, f"asked {declared.requested}, wire {seen}")


def _effort(facts: WireFacts) -> _Case:
    word = _declared(facts, facts.effort, "effort", none_asked="none asked")
    if facts.thinking_budget is None:
        return word
    budget = _declared(facts, facts.thinking_budget, "thinking_budget", none_asked="none asked")
    order = list(Holds)
    worst = min((word, budget), key=lambda case: order.index(case.holds))
    return _Case(worst.holds, f"{word.why}; thinking budget {budget.why}")


def _limit(facts: WireFacts) -> _Case:
    return _declared(facts, facts.output_limit, "output_limit", none_asked="none declared")


def _reasoning(facts: WireFacts) -> _Case:
    seen, total = facts.reasoning, facts.completed
    if seen is None or total == 0:
        return _Case(Holds.UNEXERCISED, "no completed response")
    if seen.present:
        return _Case(Holds.PASSED, f"in {seen.present} of {total} responses")
    if seen.unknown:
        return _Case(Holds.UNDETERMINED, f"unknown for {seen.unknown} of {total} responses")
    asked_for_none = _asks_for_none(facts)
    if asked_for_none is not None:
        return _Case(Holds.UNEXERCISED, f"in none of {total} responses, and {asked_for_none}")
    return _Case(Holds.FAILED, f"in none of {total} responses")


def _asks_for_none(facts: WireFacts) -> str | None:
    if facts.effort.requested in NO_REASONING:
        return f"effort {facts.effort.requested} asks for none"
    if facts.thinking_budget is not None and facts.thinking_budget.requested == 0:
        return "a thinking budget of 0 asks for none"
    return None


def _length(facts: WireFacts) -> _Case:
    seen = facts.lengths
    if seen is None or facts.requests == 0:
        return _Case(Holds.UNEXERCISED, "no request was sent")
    if seen.stops:
        return _Case(Holds.FAILED, f"{seen.stops} of {facts.requests} responses cut at their limit")
    if seen.unknown:
        return _Case(Holds.UNDETERMINED, f"{seen.unknown} of {facts.requests} ends unknown")
    if not facts.completed:
        return _Case(Holds.UNEXERCISED, "no completed response")
    return _Case(Holds.PASSED, f"0 of {facts.requests} responses")


def _word(value: str | int | None) -> str:
    return "absent" if value is None else str(value)


_JUDGES: dict[Property, Callable[[WireFacts], _Case]] = {
    Property.EFFORT: _effort,
    Property.LIMIT: _limit,
    Property.REASONING: _reasoning,
    Property.LENGTH: _length,
}
