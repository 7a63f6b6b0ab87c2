"""The table and its closing line."""

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.smoke.properties import (
    Audited,
    Declared,
    Holds,
    LengthsSeen,
    Property,
    ReasoningSeen,
    SeenOnWire,
    WireFacts,
)
from stanchion.runner.smoke.report import exit_code, report, report_lines


def audited(*, reasoning: int = 1) -> Audited:
    return Audited(
        path="out/receipts.bundle",
        verdict="verified",
        facts=WireFacts(
            output_limit=Declared(
                requested=128_000, on_the_wire=(SeenOnWire(value=128_000, requests=2),)
            ),
            effort=Declared(requested="max", on_the_wire=(SeenOnWire(value="max", requests=2),)),
            requests=2,
            outcome="completed",
            score="1.0",
            reasoning=ReasoningSeen(present=reasoning, absent=2 - reasoning, unknown=0),
            lengths=LengthsSeen(stops=0, unknown=0),
        ),
    )


def test_all_that_holds_is_counted_in_one_plain_line() -> None:
    found = report("opencode@1", "rehearsal/m", [("hello", audited()), ("long-think", audited())])

    lines = report_lines(found)
    assert lines[-1] == "smoke: 2 tasks, 4 properties, 4 held"
    assert "effort           passed" in lines
    assert exit_code(found) is ExitCode.OK


def test_what_fails_in_one_task_fails_by_name() -> None:
    tasks = [("hello", audited()), ("long-think", audited(reasoning=0))]
    found = report("opencode@1", "rehearsal/m", tasks)

    lines = report_lines(found)
    assert found.properties[Property.REASONING] is Holds.FAILED
    assert "reasoning        failed" in lines
    assert "  long-think       failed: in none of 2 responses" in lines
    assert lines[-1] == "smoke: 2 tasks, 4 properties, 3 held"
    assert exit_code(found) is ExitCode.FAILED


def test_without_receipts_nothing_is_known_and_nothing_invented() -> None:
    nothing = Audited(path="none", verdict="missing", why="the attempt left no receipts")
    found = report("opencode@1", "rehearsal/m", [("hello", nothing)])

    assert (found.held, found.tasks[0].outcome, found.tasks[0].score) == (0, None, None)
    assert "no close · score withheld · receipts missing" in report_lines(found)[1]
