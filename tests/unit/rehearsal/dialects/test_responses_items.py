import json
from typing import Any

import pytest

from stanchion.rehearsal.dialects.building import sealed
from stanchion.rehearsal.dialects.responses_items import (
    Call,
    call_item,
    call_place,
    calls_of,
    final_response,
    items_of,
    message_item,
    reasoning_item,
    response_of,
    state_of,
    summary_part,
    text_part,
)
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Asked, Ending
from unit.rehearsal.dialects.answers import IDENTITY, answer
from unit.rehearsal.dialects.test_openai_responses import asked

TOKEN = IDENTITY.token
BASH = ToolCall(name="bash", arguments={"command": "ls"})
PATCH = ToolCall(name="apply_patch", arguments={"input": "*** Begin Patch"})
ASKED: Asked = asked(
    max_output_tokens=9,
    reasoning={"effort": "max"},
    tools=[{"type": "function", "name": "bash"}, {"type": "custom", "name": "apply_patch"}],
)


@pytest.mark.parametrize(
    ("finish", "state"),
    [
        (None, ("completed", None)),
        ("stop", ("completed", None)),
        ("tool_calls", ("completed", None)),
        ("length", ("incomplete", "max_output_tokens")),
        ("content_filter", ("incomplete", "content_filter")),
        ("anything", ("incomplete", "anything")),
    ],
)
def test_the_scripts_words_are_the_vendors(
    finish: str | None, state: tuple[str, str | None]
) -> None:
    assert state_of(answer(finish=finish)) == state
    final = final_response(ASKED, answer(finish=finish), IDENTITY)
    details = None if state[1] is None else {"reason": state[1]}
    assert (final["status"], final["incomplete_details"]) == (state[0], details)


def test_an_ending_may_be_missing() -> None:
    for ending in (Ending.MARKER, Ending.NOTHING):
        final = final_response(ASKED, answer(text="hi", ending=ending), IDENTITY)
        assert (final["status"], final["incomplete_details"]) == (None, None)


def test_a_response_repeats_what_was_asked() -> None:
    begun = response_of(ASKED, IDENTITY, "in_progress")
    assert (begun["id"], begun["created_at"]) == (f"resp_{TOKEN}", 1_700_000_000)
    assert (begun["model"], begun["max_output_tokens"]) == ("any/model", 9)
    assert begun["reasoning"] == {"effort": "max", "summary": None}
    assert (begun["output"], begun["usage"], begun["error"]) == ([], None, None)


def test_the_final_response_has_every_item_and_the_counts() -> None:
    said = answer(reasoning="why", text="hi", echo=("!", "?"), calls=(BASH, PATCH))
    final = final_response(ASKED, said, IDENTITY)
    assert final["output"] == [
        {
            "id": f"rs_{TOKEN}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "why"}],
            "encrypted_content": sealed("why"),
        },
        {
            "id": f"msg_{TOKEN}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "hi!?"}],
        },
        {
            "id": "fc_0123456789abcdef01230000",
            "type": "function_call",
            "status": "completed",
            "call_id": "call_0123456789abcdef01230000",
            "name": "bash",
            "arguments": '{"command":"ls"}',
        },
        {
            "id": "ctc_0123456789abcdef01230001",
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": "call_0123456789abcdef01230001",
            "name": "apply_patch",
            "input": "*** Begin Patch",
        },
    ]
    assert final["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }


def test_usage_is_null_where_the_script_has_none_and_details_are_absent_where_unknown() -> None:
    assert final_response(ASKED, answer(text="a", usage=None), IDENTITY)["usage"] is None
    plain: Any = final_response(
        ASKED, answer(usage=Usage(prompt_tokens=1, completion_tokens=0)), IDENTITY
    )
    assert plain["usage"]["output_tokens"] == 0
    assert "output_tokens_details" not in plain["usage"]


@pytest.mark.parametrize("call", [BASH, PATCH])
def test_a_call_that_is_cut_at_the_limit_is_incomplete(call: ToolCall) -> None:
    said = answer(calls=(BASH, call), finish="length", cut_call=True)
    first, cut = calls_of(ASKED, said)
    assert (first.cut, cut.cut) == (False, True)
    assert json.loads(first.said) == BASH.arguments
    whole = "*** Begin Patch" if cut.free else '{"command":"ls"}'
    assert cut.said == whole[: len(whole) // 2]
    statuses = [item["status"] for item in items_of(ASKED, said, IDENTITY)]
    assert statuses == ["completed", "incomplete"]


def test_a_tool_of_free_text_that_is_given_no_text_is_given_json() -> None:
    (call,) = calls_of(ASKED, answer(calls=(ToolCall(name="apply_patch", arguments={"a": 1}),)))
    assert (call.free, call.field, call.said) == (True, "input", '{"a":1}')


def test_an_item_begins_empty() -> None:
    call = Call(index=1, name="bash", said="{}", free=False, cut=False)
    begun = call_item(call, IDENTITY, begun=True)
    assert (begun["status"], begun["arguments"]) == ("in_progress", "")
    assert begun["id"] == call_place(call, IDENTITY)
    assert begun["id"] != begun["call_id"]
    assert message_item("", IDENTITY)["content"] == []
    assert message_item("", IDENTITY)["status"] == "in_progress"
    assert reasoning_item("", IDENTITY) == {
        "id": f"rs_{TOKEN}",
        "type": "reasoning",
        "summary": [],
    }


def test_a_part_has_its_text() -> None:
    assert (summary_part("a")["text"], text_part("b")["text"]) == ("a", "b")
