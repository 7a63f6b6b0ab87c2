"""What an audit said of an attempt, in a few words."""

from stanchion.runner.smoke.audited import (
    AnswersSeen,
    Audited,
    Declared,
    LengthsSeen,
    ReasoningSeen,
    SeenOnWire,
    WireFacts,
)
from stanchion.runner.smoke.judging import Property
from stanchion.runner.smoke.report import SmokeReport, not_run, report
from stanchion.runner.smoke.two_tasks import TASKS
from stanchion.runner.smoke.waiving import Waivers


def along(value: str | int) -> Declared:
    return Declared(requested=value, on_the_wire=(SeenOnWire(value=value, requests=2),))


def audited(
    *,
    effort: Declared | None = None,
    reasoning: int = 1,
    stops: int = 0,
    completed: int = 2,
    outcome: str = "completed",
    answers: AnswersSeen | None = None,
    close_flags: tuple[str, ...] = (),
) -> Audited:
    return Audited(
        path="out/receipts.bundle",
        verdict="verified",
        exit_code=0,
        facts=WireFacts(
            model=along("m"),
            output_limit=along(128_000),
            effort=effort or along("max"),
            requests=2,
            outcome=outcome,
            score="1.0",
            reasoning=ReasoningSeen(present=reasoning, absent=completed - reasoning, unknown=0),
            lengths=LengthsSeen(stops=stops, unknown=0),
            answers=answers
            or AnswersSeen(served=(SeenOnWire(value="m", requests=2),), tool_calls=1),
            close_flags=close_flags,
        ),
    )


def smoke(first: Audited, second: Audited, waived: Waivers | None = None) -> SmokeReport:
    pairs = list(zip(TASKS, (first, second), strict=True))
    return report("opencode@1", "box/m", pairs, asked={"effort": "max"}, waived=waived)


GOOD = smoke(audited(), audited())
BAD = smoke(
    audited(stops=1),
    audited(reasoning=0, answers=AnswersSeen(without_usage=1, tool_calls=1)),
    {Property.LENGTH: "a \x1b[31msmall\x00 window"},
)
REFUSED = not_run("pi", "box/n", "no account <box> & co", asked={"effort": "high"})
