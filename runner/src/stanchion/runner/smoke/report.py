"""What a smoke run found, as one document with an exit code and a closing line. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.smoke.audited import VERIFIED, Audited
from stanchion.runner.smoke.judging import Finding, Holds, Property, judge_task, overall
from stanchion.runner.smoke.noticing import Noticed, notice, problem
from stanchion.runner.smoke.two_tasks import SmokeTask
from stanchion.runner.smoke.waiving import Waivers


class TaskFound(msgspec.Struct, frozen=True, kw_only=True):
    """One task of the run."""

    task: str
    bundle: str
    verdict: str
    """Of the audit."""
    outcome: str | None
    score: str | None
    findings: tuple[Finding, ...]
    audit_exit: int = 1


class SmokeReport(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of harness, model, effort and limit."""

    harness: str
    model: str
    tasks: tuple[TaskFound, ...]
    properties: dict[Property, Holds]
    """Over all tasks."""
    held: int
    asked: dict[str, str] = {}
    """What was asked for beside harness and model, as it was asked: `effort`, `output_limit` …"""
    waived: dict[Property, str] = {}
    """Properties that may fail, and why."""
    flags: tuple[Noticed, ...] = ()
    """Worth knowing; none of them blocks."""
    problems: tuple[str, ...] = ()
    """Tasks that tested nothing."""

    @property
    def blocking(self) -> tuple[Property, ...]:
        """What failed and nobody waived."""
        return tuple(
            name
            for name, holds in self.properties.items()
            if holds is Holds.FAILED and name not in self.waived
        )


def report(
    harness: str,
    model: str,
    audited: Iterable[tuple[SmokeTask, Audited]],
    *,
    asked: dict[str, str] | None = None,
    waived: Waivers | None = None,
) -> SmokeReport:
    """Judge every task's receipts."""
    tasks: list[TaskFound] = []
    flags: list[Noticed] = []
    problems: list[str | None] = []
    for task, found in audited:
        findings = judge_task(found, needs_reasoning=task.needs_reasoning)
        tasks.append(_task(task.name, found, findings))
        flags += notice(task.name, found, needs_tool=task.needs_tool)
        problems.append(problem(task.name, found, findings))
    properties = {name: overall(_of(tasks, name)) for name in Property}
    return SmokeReport(
        harness=harness,
        model=model,
        tasks=tuple(tasks),
        properties=properties,
        held=sum(holds is Holds.PASSED for holds in properties.values()),
        asked=asked or {},
        waived=dict(waived or {}),
        flags=tuple(flags),
        problems=tuple(words for words in problems if words is not None),
    )


def _task(name: str, found: Audited, findings: tuple[Finding, ...]) -> TaskFound:
    return TaskFound(
        task=name,
        bundle=found.path,
        verdict=found.verdict,
        outcome=found.facts.outcome if found.facts else None,
        score=found.facts.score if found.facts else None,
        findings=findings,
        audit_exit=found.exit_code,
    )


def not_run(harness: str, model: str, why: str, *, asked: dict[str, str]) -> SmokeReport:
    """Of a combination that was refused before anything of it started."""
    return SmokeReport(
        harness=harness,
        model=model,
        tasks=(),
        properties=dict.fromkeys(Property, Holds.UNEXERCISED),
        held=0,
        asked=asked,
        problems=(why,),
    )


def worst(reports: Iterable[SmokeReport]) -> ExitCode:
    """Over all combinations: 4, 3, 1, 0."""
    return max(map(exit_code, reports))


def exit_code(found: SmokeReport) -> ExitCode:
    """4 or 3 for receipts that do not hold; else 1 where a property failed unwaived, or nothing was
    tested; else 0.
    """
    unsound = [task.audit_exit for task in found.tasks if task.verdict != VERIFIED]
    for code in (ExitCode.TAMPERED, ExitCode.INCOMPLETE):
        if code in unsound:
            return code
    return ExitCode.FAILED if found.blocking or found.problems or unsound else ExitCode.OK


def closing_line(reports: Sequence[SmokeReport]) -> str:
    """Of one combination or several."""
    properties = len(Property) * len(reports)
    tasks = sum(len(one.tasks) for one in reports)
    verdicts = [holds for one in reports for holds in one.properties.values()]
    waived = sum(one.properties[name] is Holds.FAILED for one in reports for name in one.waived)
    counts = {
        "failed": verdicts.count(Holds.FAILED),
        "waived": waived,
        "undetermined": verdicts.count(Holds.UNDETERMINED),
        "unexercised": verdicts.count(Holds.UNEXERCISED),
        "flagged": len({(one.flag, at) for at, found in enumerate(reports) for one in found.flags}),
    }
    more = "".join(f", {count} {word}" for word, count in counts.items() if count)
    combinations = f"{len(reports)} combinations, " if len(reports) > 1 else ""
    held = sum(one.held for one in reports)
    return f"smoke: {combinations}{tasks} tasks, {properties} properties, {held} held{more}"


def _of(tasks: Sequence[TaskFound], name: Property) -> list[Finding]:
    return [finding for task in tasks for finding in task.findings if finding.property is name]
