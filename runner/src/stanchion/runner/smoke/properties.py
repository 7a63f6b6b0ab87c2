"""The four wire properties of a smoke run, judged from audited receipts. Pure.

Decides `passed`, `failed` or `undetermined` for each, never from what the harness or a live view
said. What is not on record is undetermined, never passed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

VERIFIED = "verified"


class Holds(StrEnum):
    """The verdict on one property, worst first."""

    FAILED = "failed"
    UNDETERMINED = "undetermined"
    PASSED = "passed"


class Property(StrEnum):
    """What must hold of every main request and its response."""

    EFFORT = "effort"
    LIMIT = "output_limit"
    REASONING = "reasoning"
    LENGTH = "no_length_stop"


class SeenOnWire(msgspec.Struct, frozen=True, kw_only=True):
    """One value and how many main requests carried it."""

    value: str | int | None
    requests: int


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One declared value along its way."""

    requested: str | int | None
    on_the_wire: tuple[SeenOnWire, ...]


class ReasoningSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Completed responses by whether they had reasoning."""

    present: int
    absent: int
    unknown: int


class LengthsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Responses cut at their limit, and those of which nobody knows."""

    stops: int
    unknown: int


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A request that differed from the launch."""

    field: str
    declared: str | None
    observed: str | None


class WireFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an audit's facts that the properties are judged from."""

    output_limit: Declared
    effort: Declared
    requests: int
    outcome: str | None
    score: str | None
    reasoning: ReasoningSeen | None = None
    lengths: LengthsSeen | None = None
    differing: tuple[Refused, ...] = ()


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an audit's report that counts here."""

    path: str
    verdict: str
    why: str | None = None
    facts: WireFacts | None = None


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


def judge_task(audited: Audited) -> tuple[Finding, ...]:
    """Every property of one attempt."""
    facts = audited.facts
    if audited.verdict != VERIFIED or facts is None:
        why = f"its receipts are {audited.verdict}" + (f": {audited.why}" if audited.why else "")
        cases = {name: _Case(Holds.UNDETERMINED, why) for name in Property}
    else:
        cases = {name: judge(facts) for name, judge in _JUDGES.items()}
    return tuple(
        Finding(property=name, holds=case.holds, why=case.why) for name, case in cases.items()
    )


def overall(findings: Sequence[Finding]) -> Holds:
    """Of one property over all tasks: the worst."""
    order = list(Holds)
    return min((finding.holds for finding in findings), key=order.index)


def _declared(facts: WireFacts, declared: Declared, field: str, *, none_asked: str) -> _Case:
    refused = [differing for differing in facts.differing if differing.field == field]
    if refused:
        one = refused[0]
        words = f"asked {_word(one.declared)}, the harness sent {_word(one.observed)}"
        return _Case(Holds.FAILED, words)
    if not declared.on_the_wire:
        return _Case(Holds.UNDETERMINED, "no request was sent")
    seen = ", ".join(f"{_word(one.value)} x{one.requests}" for one in declared.on_the_wire)
    values = {one.value for one in declared.on_the_wire}
    if declared.requested is None:
        holds = Holds.PASSED if values == {None} else Holds.UNDETERMINED
        return _Case(holds, f"{none_asked}, wire {seen}")
    holds = Holds.PASSED if values == {declared.requested} else Holds.FAILED
    return _Case(holds, f"asked {declared.requested}, wire {seen}")


def _effort(facts: WireFacts) -> _Case:
    return _declared(facts, facts.effort, "effort", none_asked="none asked")


def _limit(facts: WireFacts) -> _Case:
    return _declared(facts, facts.output_limit, "output_limit", none_asked="none declared")


def _reasoning(facts: WireFacts) -> _Case:
    seen = facts.reasoning
    total = 0 if seen is None else seen.present + seen.absent + seen.unknown
    if seen is None or total == 0:
        return _Case(Holds.UNDETERMINED, "no completed response")
    if seen.present:
        return _Case(Holds.PASSED, f"in {seen.present} of {total} responses")
    if seen.unknown:
        return _Case(Holds.UNDETERMINED, f"unknown for {seen.unknown} of {total} responses")
    return _Case(Holds.FAILED, f"in none of {total} responses")


def _length(facts: WireFacts) -> _Case:
    seen = facts.lengths
    if seen is None or facts.requests == 0:
        return _Case(Holds.UNDETERMINED, "no request was sent")
    if seen.stops:
        return _Case(Holds.FAILED, f"{seen.stops} of {facts.requests} responses cut at their limit")
    if seen.unknown:
        return _Case(Holds.UNDETERMINED, f"{seen.unknown} of {facts.requests} ends unknown")
    return _Case(Holds.PASSED, f"0 of {facts.requests} responses")


def _word(value: str | int | None) -> str:
    return "absent" if value is None else str(value)


_JUDGES: dict[Property, Callable[[WireFacts], _Case]] = {
    Property.EFFORT: _effort,
    Property.LIMIT: _limit,
    Property.REASONING: _reasoning,
    Property.LENGTH: _length,
}
