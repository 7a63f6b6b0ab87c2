"""Beside the properties of a smoke run: flags, and tasks that tested nothing. Pure.

A flag never blocks. A problem does: a task that nobody answered has tested nothing, and a run that
tested nothing must not look like one that passed.
"""

from collections.abc import Iterable, Sequence

import msgspec

from stanchion.runner.smoke.audited import Audited, WireFacts
from stanchion.runner.smoke.judging import Finding, Holds


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """One flag of one task."""

    flag: str
    """`model_differs` | `usage_missing` | `tool_unused`, or a flag of how the attempt ended."""
    task: str
    why: str


OWN = ("model_differs", "effort_undeclared")
"""Flags of an ending that are said here in other words."""


def notice(task: str, audited: Audited, *, needs_tool: bool) -> tuple[Noticed, ...]:
    """The flags of one task."""
    facts = audited.facts
    if facts is None:
        return ()
    found = [*_served(facts), *_usage(facts), *_tools(facts, needs_tool=needs_tool)]
    found += [
        (flag, "so says the close of its receipts") for flag in facts.close_flags if flag not in OWN
    ]
    return tuple(Noticed(flag=flag, task=task, why=why) for flag, why in found)


def problem(task: str, audited: Audited, findings: Sequence[Finding]) -> str | None:
    """Why the task tested nothing; None = it did, or a property that failed says why."""
    facts = audited.facts
    if facts is None or (facts.completed == 0 and not _explained(findings)):
        ended = facts.outcome if facts and facts.outcome else None
        how = f"it ended {ended}" if ended else f"its receipts are {audited.verdict}"
        return f"{task}: {how}, and no response was completed"
    return None


def _explained(findings: Iterable[Finding]) -> bool:
    return any(finding.holds is Holds.FAILED for finding in findings)


def _served(facts: WireFacts) -> list[tuple[str, str]]:
    asked = facts.model.requested
    other = [one for one in facts.answers.served if one.value not in {None, asked}]
    if asked is None or not other:
        return []
    seen = ", ".join(f"{one.value} x{one.requests}" for one in facts.answers.served)
    return [("model_differs", f"asked {asked}, served {seen}")]


def _usage(facts: WireFacts) -> list[tuple[str, str]]:
    absent = facts.answers.without_usage
    if not absent:
        return []
    return [("usage_missing", f"{absent} of {facts.completed} responses reported no usage")]


def _tools(facts: WireFacts, *, needs_tool: bool) -> list[tuple[str, str]]:
    if not needs_tool or not facts.completed or facts.answers.tool_calls:
        return []
    why = "no tool was called, so no request that brings a tool's result was seen"
    return [("tool_unused", why)]
