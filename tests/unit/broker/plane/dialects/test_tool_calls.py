from typing import Any

import pytest

from stanchion.broker.plane.dialects.tool_calls import ToolCalls


def fragment(
    index: object, name: str | None, arguments: object, call: str | None = None
) -> dict[str, Any]:
    return {"index": index, "id": call, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("fragments", "whole", "cut"),
    [
        ([], 0, 0),
        ([fragment(0, "f", "{}")], 1, 0),
        ([fragment(0, "f", "")], 1, 0),
        ([fragment(0, "f", '{"a"'), fragment(0, None, ":1}")], 1, 0),
        ([fragment(0, "f", '{"a"')], 0, 1),
        ([fragment(0, None, "{}")], 0, 1),
        ([fragment(0, "f", {"a": 1})], 1, 0),
        ([fragment(0, "f", "{}"), fragment(1, "g", "{")], 1, 1),
        ([fragment(0, "f", "\ud800")], 0, 1),
        ([fragment("x", "f", "{}"), "junk", {"function": 3}], 1, 0),
        ([fragment(0, "f", "{}", "a"), fragment(0, "f", "{}", "b")], 2, 0),
        ([fragment(None, "f", "{}", "a"), fragment(None, "g", "{", "b")], 1, 1),
        ([fragment(0, "f", "{", "a"), fragment(0, None, "}", "b")], 1, 0),
        ([fragment(0, "f", "{", "a"), fragment(0, "f", "}", "a")], 1, 0),
        ([fragment(0, "f", "{"), fragment(0, "f", "}")], 1, 0),
    ],
)
def test_only_whole_calls_count(fragments: list[Any], whole: int, cut: int) -> None:
    calls = ToolCalls()
    for part in fragments:
        calls.take(0, [part], None)
    assert (calls.whole(), calls.cut()) == (whole, cut)


def test_calls_of_other_choices_are_others() -> None:
    calls = ToolCalls()
    calls.take(0, [fragment(0, "f", "{}")], None)
    calls.take(1, [fragment(0, "f", "{}")], None)
    assert calls.whole() == 2


def test_the_older_function_call_counts() -> None:
    calls = ToolCalls()
    calls.take(0, None, {"name": "f", "arguments": '{"a":1}'})
    assert calls.whole() == 1
