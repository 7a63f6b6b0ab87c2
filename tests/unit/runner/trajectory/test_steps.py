"""What a harness saved badly is shown as it is, in a valid step."""

import msgspec
import pytest

from fakes.conversations import item
from stanchion.protocol.transcript import ItemKind, ToolUse
from stanchion.runner.trajectory.joining import Joined
from stanchion.runner.trajectory.steps import step_of
from stanchion.runner.trajectory.turns import conversations


def step_with(tool: ToolUse, at_ms: int | None = 0) -> dict[str, object]:
    made = msgspec.structs.replace(item(ItemKind.TOOL, "i"), tool=tool, at_ms=at_ms)
    ((turn,),) = (one.turns for one in conversations([made]))
    built: dict[str, object] = msgspec.to_builtins(step_of(1, turn, Joined(why="x"), {}))
    return built


@pytest.mark.parametrize("arguments", ["[1]", "{", "null", '{"a":' * 5000])
def test_arguments_that_are_no_object_are_kept_as_text(arguments: str) -> None:
    step = step_with(ToolUse(name="bash", call_id="c", status="running", arguments=arguments))

    assert step["tool_calls"] == [
        {
            "tool_call_id": "c",
            "function_name": "bash",
            "arguments": {},
            "extra": {"stanchion": {"status": "running", "arguments_text": arguments}},
        }
    ]
    assert "observation" not in step, "a call that has not ended has no result"


@pytest.mark.parametrize("at_ms", [None, 10**18, -(10**18)])
def test_a_time_that_no_clock_shows_is_left_out(at_ms: int | None) -> None:
    assert "timestamp" not in step_with(ToolUse(name="b", status="error"), at_ms)


def test_a_time_is_utc_to_the_millisecond() -> None:
    step = step_with(ToolUse(name="b", status="error"), 1_700_000_000_123)
    assert step["timestamp"] == "2023-11-14T22:13:20.123+00:00"
