import pytest

from stanchion.broker.plane.dialects.responses_output import Output

CALL = {"type": "function_call", "name": "ls", "arguments": "{}"}


def added(output: Output, item: object, index: object = 0) -> None:
    output.event("response.output_item.added", index, item, ())


def ended(output: Output, item: object, index: object = 0) -> None:
    output.event("response.output_item.done", index, item, ())


@pytest.mark.parametrize(
    "item",
    [
        CALL,
        {**CALL, "status": "completed"},
        {**CALL, "arguments": ""},
        {**CALL, "arguments": {"p": 1}},
        {"type": "function_call", "name": "ls"},
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"},
        {"type": "local_shell_call", "action": {}},
        {"type": "computer_call"},
    ],
)
def test_a_call_is_whole_once_its_item_ended(item: dict[str, object]) -> None:
    streamed, listed = Output(), Output()
    added(streamed, {**item, "arguments": ""})
    assert (streamed.whole_calls, streamed.cut_calls) == (0, 1)
    ended(streamed, item)
    listed.items([item])
    for output in (streamed, listed):
        assert (output.whole_calls, output.cut_calls, output.calls) == (1, 0, 1)


@pytest.mark.parametrize(
    "item",
    [
        {**CALL, "arguments": '{"p": '},
        {**CALL, "arguments": 3},
        {**CALL, "status": "incomplete"},
        {**CALL, "status": "in_progress"},
        {**CALL, "name": ""},
        {"type": "custom_tool_call", "input": "x"},
        {"type": "custom_tool_call", "name": "x", "status": "incomplete"},
    ],
)
def test_half_a_call_is_cut(item: dict[str, object]) -> None:
    streamed, listed = Output(), Output()
    ended(streamed, item)
    listed.items([item])
    for output in (streamed, listed):
        assert (output.whole_calls, output.cut_calls) == (0, 1)


def test_what_the_provider_runs_itself_is_no_call() -> None:
    output = Output()
    ended(output, {"type": "web_search_call", "status": "completed"})
    output.items([{"type": "mcp_call", "name": "x", "arguments": "{}"}])
    assert output.calls == 0


def test_items_are_told_apart_by_their_index_not_by_their_id() -> None:
    output = Output()
    added(output, {**CALL, "id": "a"}, 1)
    output.event("response.function_call_arguments.delta", 1, None, ("{}",))
    added(output, {**CALL, "id": "b"}, 2)
    ended(output, {**CALL, "id": "c"}, 1)
    assert (output.whole_calls, output.cut_calls) == (1, 1)
    ended(output, {**CALL, "id": "d"}, 2)
    output.items([{"type": "message"}, CALL, CALL])
    assert (output.whole_calls, output.cut_calls) == (2, 0)


def test_arguments_without_a_beginning_are_a_call_that_is_not_whole() -> None:
    output = Output()
    output.event("response.custom_tool_call_input.delta", None, None, ("x",))
    assert (output.whole_calls, output.cut_calls) == (0, 1)


def test_the_list_ends_a_call_that_no_event_ended() -> None:
    output = Output()
    added(output, CALL, 1)
    output.items([CALL, CALL])
    assert (output.whole_calls, output.cut_calls) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "said", "text", "thoughts"),
    [
        ("response.output_text.delta", "a", True, False),
        ("response.output_text.done", "a", True, False),
        ("response.output_text.delta", "", False, False),
        ("response.reasoning_summary_text.delta", "a", False, True),
        ("response.reasoning_text.delta", "a", False, True),
        ("response.reasoning_summary_part.done", "a", False, True),
        ("response.reasoning_summary_text.done", "", False, False),
        ("response.refusal.delta", "a", False, False),
        ("response.content_part.added", "a", False, False),
    ],
)
def test_text_and_reasoning_as_they_stream(
    kind: str, said: str, text: bool, thoughts: bool
) -> None:
    output = Output()
    output.event(kind, 0, None, (said, None))
    assert (output.text, output.thoughts, output.reasoned) == (text, thoughts, False)


def message(**part: str) -> dict[str, object]:
    return {"type": "message", "content": [part]}


def reasoning(**members: object) -> dict[str, object]:
    return {"type": "reasoning", "summary": [], **members}


@pytest.mark.parametrize(
    ("item", "text", "thoughts", "reasoned"),
    [
        (message(type="output_text", text="a"), True, False, False),
        (message(type="output_text", text=""), False, False, False),
        (message(type="refusal", refusal="a"), False, False, False),
        ({"type": "message", "content": "a"}, False, False, False),
        (reasoning(), False, False, True),
        (reasoning(encrypted_content="g"), False, True, True),
        (reasoning(encrypted_content=""), False, False, True),
        (reasoning(summary=[{"type": "summary_text", "text": "a"}]), False, True, True),
        (reasoning(content=[{"type": "reasoning_text", "text": "a"}]), False, True, True),
    ],
)
def test_text_and_reasoning_in_items(
    item: dict[str, object], text: bool, thoughts: bool, reasoned: bool
) -> None:
    for take in (added, ended):
        output = Output()
        take(output, item)
        assert (output.text, output.thoughts, output.reasoned) == (text, thoughts, reasoned)


@pytest.mark.parametrize(
    "value", [None, 3, "x", [], [None, 3], {"type": ["message"]}, {}, message(type="refusal")]
)
def test_anything_else_is_nothing(value: object) -> None:
    output = Output()
    added(output, value)
    ended(output, value, "0")
    output.items(value)
    assert (output.text, output.reasoned, output.calls) == (False, False, 0)
