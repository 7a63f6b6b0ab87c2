"""`--require KEY=VALUE`: what an auditor demands of every attempt, and whether it holds.

Pure. A demand on the wire holds only if every main request carried the value; where there was no
request, nothing carried it, and the demand does not hold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from stanchion.broker.auditing.facts import Along, Facts
from stanchion.protocol.launch import Isolation
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
    if key == "output_limit" and not (value.isascii() and value.isdecimal()):
        raise RequirementError(f"--require {text!r}: output_limit is a whole number of tokens")
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


_CHECKS: dict[str, Callable[[Facts, str], str | None]] = {
    "effort": lambda facts, value: _on_the_wire(facts.effort, (value,)),
    "output_limit": lambda facts, value: _on_the_wire(facts.output_limit, (int(value),)),
    "model": _model,
    "isolation": _isolation,
    "harness": _harness,
    "outcome": _outcome,
}
_WORDS = {
    "isolation": tuple(mode.value for mode in Isolation),
    "outcome": tuple(reason.value for reason in EndReason),
}
