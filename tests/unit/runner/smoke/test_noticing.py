"""Flags that block nothing, and tasks that tested nothing, which do."""

import pytest
from tests.unit.runner.smoke.smokes import along, audited, smoke

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.smoke.audited import AnswersSeen, Audited, Declared, SeenOnWire
from stanchion.runner.smoke.report import closing_line, exit_code

GOOD = audited()
LOST = Declared(requested="max", on_the_wire=(SeenOnWire(value=None, requests=2),))


@pytest.mark.parametrize(
    ("task", "flag", "why"),
    [
        (
            audited(answers=AnswersSeen(served=(along("other").on_the_wire[0],), tool_calls=1)),
            "model_differs",
            "asked m, served other x2",
        ),
        (
            audited(answers=AnswersSeen(without_usage=2, tool_calls=1)),
            "usage_missing",
            "2 of 2 responses reported no usage",
        ),
        (
            audited(answers=AnswersSeen()),
            "tool_unused",
            "no tool was called, so no request that brings a tool's result was seen",
        ),
        (
            audited(close_flags=("length_recovered", "model_differs")),
            "length_recovered",
            "so says the close of its receipts",
        ),
    ],
)
def test_a_flag_is_named_and_blocks_nothing(task: Audited, flag: str, why: str) -> None:
    found = smoke(task, GOOD)

    assert [(one.flag, one.task, one.why) for one in found.flags] == [(flag, "hello", why)]
    assert closing_line([found]).endswith("4 held, 1 flagged")
    assert exit_code(found) is ExitCode.OK


def test_a_run_that_nobody_answered_is_no_smoke_run() -> None:
    found = smoke(audited(reasoning=0, completed=0, outcome="provider_refused"), GOOD)

    assert found.problems == ("hello: it ended provider_refused, and no response was completed",)
    assert exit_code(found) is ExitCode.FAILED
    stopped = audited(
        effort=LOST,
        reasoning=0, completed=0, outcome="mismatch",
    )  # fmt: skip
    assert smoke(stopped, stopped).problems == (), "its property says why"
