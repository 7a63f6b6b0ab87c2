from typing import Any

import msgspec
import pytest

from stanchion.harness_adapters.claude_code.ending import CUT, judge
from stanchion.harness_adapters.claude_code.lines import Line
from stanchion.protocol.evidence import SessionState

GOOD = Line(
    type="result", is_error=False, stop_reason="end_turn", terminal_reason="completed", result="Ok."
)


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, SessionState.GOOD),
        ({"terminal_reason": None}, SessionState.GOOD),
        ({"is_error": True}, SessionState.ERROR),
        ({"is_error": True, "result": None}, SessionState.ERROR),
        ({"is_error": None}, SessionState.ERROR),
        ({"stop_reason": "max_tokens"}, SessionState.LENGTH),
        ({"stop_reason": "refusal"}, SessionState.ERROR),
        ({"permission_denials": ({},)}, SessionState.REJECTED),
        ({"terminal_reason": "max_turns"}, SessionState.ERROR),
        ({"result": " \n"}, SessionState.EMPTY),
        ({"result": None}, SessionState.EMPTY),
    ],
)
def test_only_a_whole_result_is_good(changed: dict[str, Any], state: SessionState) -> None:
    found, detail = judge(msgspec.structs.replace(GOOD, **changed), error=None, background=0)
    assert found is state
    assert (detail is None) is (state is SessionState.GOOD)


def test_an_error_by_the_limit_is_a_length_stop() -> None:
    result = msgspec.structs.replace(GOOD, is_error=True)
    assert judge(result, error=CUT, background=0)[0] is SessionState.LENGTH
    assert judge(result, error="server_error", background=0)[0] is SessionState.ERROR


def test_nothing_is_good_while_something_runs() -> None:
    assert judge(GOOD, error=None, background=1)[0] is SessionState.MID_TURN
