"""What a smoke run found, as one document and as a table with a closing line. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.smoke.properties import Audited, Finding, Holds, Property, judge_task, overall


class TaskFound(msgspec.Struct, frozen=True, kw_only=True):
    """One task of the run."""

    task: str
    bundle: str
    verdict: str
    """Of the audit."""
    outcome: str | None
    score: str | None
    findings: tuple[Finding, ...]


class SmokeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole run."""

    harness: str
    model: str
    tasks: tuple[TaskFound, ...]
    properties: dict[Property, Holds]
    """Over all tasks."""
    held: int


def report(harness: str, model: str, audited: Iterable[tuple[str, Audited]]) -> SmokeReport:
    """Judge every task's receipts."""
    tasks = tuple(
        TaskFound(
            task=task,
            bundle=found.path,
            verdict=found.verdict,
            outcome=found.facts.outcome if found.facts else None,
            score=found.facts.score if found.facts else None,
            findings=judge_task(found),
        )
        for task, found in audited
    )
    properties = {name: overall(_of(tasks, name)) for name in Property}
    return SmokeReport(
        harness=harness,
        model=model,
        tasks=tasks,
        properties=properties,
        held=sum(holds is Holds.PASSED for holds in properties.values()),
    )


def exit_code(found: SmokeReport) -> ExitCode:
    """0 only if every property held."""
    return ExitCode.OK if found.held == len(Property) else ExitCode.FAILED


def report_lines(found: SmokeReport) -> list[str]:
    """The table, then one plain line."""
    lines = [f"smoke · {found.harness} · {found.model}"]
    for task in found.tasks:
        score = "withheld" if task.score is None else task.score
        lines.append(
            f"  {task.task:<16} {task.outcome or 'no close'} · score {score} · "
            f"receipts {task.verdict} · {task.bundle}"
        )
    for name in Property:
        words = name.value.replace("_", " ")
        lines.append(f"{words:<16} {found.properties[name].value}")
        lines += [
            f"  {task.task:<16} {finding.holds.value}: {finding.why}"
            for task in found.tasks
            for finding in task.findings
            if finding.property is name
        ]
    lines.append(f"smoke: {len(found.tasks)} tasks, {len(Property)} properties, {found.held} held")
    return lines


def _of(tasks: Sequence[TaskFound], name: Property) -> list[Finding]:
    return [finding for task in tasks for finding in task.findings if finding.property is name]
