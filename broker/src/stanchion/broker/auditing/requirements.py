"""`--require KEY=VALUE`: what an auditor demands of every attempt, and whether it holds.

Pure. A demand on the wire holds only if every main request carried the value; where there was no
request, nothing carried it, and the demand does not hold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from stanchion.broker.auditing.facts import Along, Facts
from stanchion.protocol.launch import Isolation, Policy
from stanchion.protocol.outcome import EndReason


class RequirementError(ValueError):
    """A demand that cannot be understood; the sentence names the rule and the known words."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One demand."""

    key: str
    value: str


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One demand and whether it held."""

    key: str
    value: str
    held: bool
    why: str | None
    """What was found instead."""


def parse_requirement(text: str) -> Requirement:
    """The demand in `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not equals or not value:
        raise RequirementError(f"--require {text!r}: write it as KEY=VALUE, as in effort=max")
    if key not in _CHECKS:
        raise RequirementError(f"--require {text!r}: the keys are {', '.join(sorted(_CHECKS))}")
    if key in _NUMBERS and not (value.isascii() and value.isdecimal()):
        raise RequirementError(f"--require {text!r}: {key} is a whole number of {_NUMBERS[key]}")
    words = _WORDS.get(key)
    if words is not None and value not in words:
        raise RequirementError(f"--require {text!r}: {key} is one of {', '.join(words)}")
    return Requirement(key, value)


def check(requirement: Requirement, facts: Facts) -> Checked:
    """Whether the attempt meets the demand."""
    why = _CHECKS[requirement.key](facts, requirement.value)
    return Checked(key=requirement.key, value=requirement.value, held=why is None, why=why)


def _on_the_wire(along: Along, wanted: tuple[str | int, ...]) -> str | None:
    if not along.on_the_wire:
        return "no main request was sent"
    others = [seen for seen in along.on_the_wire if seen.value not in wanted]
    if not others:
        return None
    return ", ".join(
        f"{seen.requests} x {'absent' if seen.value is None else seen.value}" for seen in others
    )


def _model(facts: Facts, value: str) -> str | None:
    account, _, model = value.partition("/")
    wanted = (value, model) if model and account == facts.account else (value,)
    return _on_the_wire(facts.model, wanted)


def _isolation(facts: Facts, value: str) -> str | None:
    if not facts.isolation:
        return "the supervisor never reported its self-test"
    others = [mode for mode in facts.isolation if mode != value]
    return f"the self-test found {', '.join(others)}" if others else None


def _harness(facts: Facts, value: str) -> str | None:
    name = facts.harness.partition("@")[0]
    return None if value in {name, facts.harness} else f"it was {facts.harness}"


def _outcome(facts: Facts, value: str) -> str | None:
    return None if value == facts.outcome else f"it ended {facts.outcome or 'without a close'}"


def _reasoning(facts: Facts, value: str) -> str | None:
    """`present`: some response had any; `absent`: it is known of all that they had none."""
    seen = facts.reasoning
    if seen is None or not (seen.present or seen.absent or seen.unknown):
        return "no main request was answered"
    if value == "present":
        if seen.present:
            return None
        return f"none was seen in {seen.absent} responses, unknown for {seen.unknown}"
    if seen.present or seen.unknown:
        return f"{seen.present} responses had some, unknown for {seen.unknown}"
    return None


def _length_stops(facts: Facts, value: str) -> str | None:
    """At most so many, and none unknown."""
    seen = facts.lengths
    if seen is None or not facts.requests:
        return "no main request was sent"
    if seen.stops > int(value):
        return f"{seen.stops} responses were cut at their limit"
    return f"the end of {seen.unknown} requests is unknown" if seen.unknown else None


def _equals(found: str, value: str) -> str | None:
    return None if value == found else f"it was {found}"


_CHECKS: dict[str, Callable[[Facts, str], str | None]] = {
    "effort": lambda facts, value: _on_the_wire(facts.effort, (value,)),
    "output_limit": lambda facts, value: _on_the_wire(facts.output_limit, (int(value),)),
    "model": _model,
    "isolation": _isolation,
    "harness": _harness,
    "outcome": _outcome,
    "reasoning": _reasoning,
    "length_stops": _length_stops,
    "policy": lambda facts, value: _equals(facts.policy, value),
    "profile": lambda facts, value: _equals(facts.profile, value),
}
_NUMBERS = {"output_limit": "tokens", "length_stops": "responses"}
_WORDS = {
    "isolation": tuple(mode.value for mode in Isolation),
    "outcome": tuple(reason.value for reason in EndReason),
    "policy": tuple(policy.value for policy in Policy),
    "reasoning": ("present", "absent"),
}
