import pytest

from stanchion.broker.plane.dialects.anthropic_blocks import Blocks

TOOL: dict[str, object] = {"type": "tool_use", "id": "t", "name": "bash", "input": {}}


def call(*pieces: object, block: dict[str, object] | None = None) -> int:
    blocks = Blocks()
    blocks.start(0, block or TOOL)
    for piece in pieces:
        blocks.delta(0, {"type": "input_json_delta", "partial_json": piece})
    blocks.stop(0)
    return blocks.whole_calls


@pytest.mark.parametrize("pieces", [(), ("",), (" ",), ('{"a"', ":1}"), ("{}",), (None, "{}")])
def test_a_call_is_whole_when_its_input_is_one_object(pieces: tuple[object, ...]) -> None:
    assert call(*pieces) == 1


@pytest.mark.parametrize(
    "pieces", [('{"a":',), ("[1]",), ("1",), ("{} {}",), ("{}", "x"), ("\ud800",)]
)
def test_half_an_input_or_another_value_is_no_call(pieces: tuple[str, ...]) -> None:
    assert call(*pieces) == 0


def test_a_call_may_have_its_whole_input_at_its_start() -> None:
    assert call(block={**TOOL, "input": {"command": "ls"}}) == 1
    assert call(block={**TOOL, "input": None}) == 1
    assert call(block={**TOOL, "input": "ls"}) == 0


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_call_without_a_name_is_none(name: object) -> None:
    assert call("{}", block={**TOOL, "name": name}) == 0


def test_a_call_whose_block_does_not_end_is_none_and_one_that_ends_twice_is_one() -> None:
    blocks = Blocks()
    blocks.start(0, TOOL)
    assert (blocks.whole_calls, blocks.cut_calls) == (0, 1)
    blocks.stop(0)
    blocks.stop(0)
    assert (blocks.whole_calls, blocks.cut_calls) == (1, 0)


def test_a_call_that_broke_off_is_counted_as_cut() -> None:
    blocks = Blocks()
    blocks.start(0, TOOL)
    blocks.delta(0, {"type": "input_json_delta", "partial_json": '{"command": "ls'})
    blocks.stop(0)
    blocks.content([TOOL, {**TOOL, "input": "ls"}])
    assert (blocks.whole_calls, blocks.cut_calls) == (1, 2)


def test_what_the_provider_runs_itself_is_no_call_of_the_harness() -> None:
    assert call("{}", block={**TOOL, "type": "server_tool_use"}) == 0


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "", "signature": "zz"},
        {"type": "redacted_thinking", "data": "zz"},
    ],
)
def test_thinking_is_seen_in_each_shape_at_the_start_and_in_a_whole_message(
    block: dict[str, object],
) -> None:
    begun, whole = Blocks(), Blocks()
    begun.start(0, block)
    whole.content([block])
    assert (begun.thinking, whole.thinking) == (True, True)
    assert not begun.text


@pytest.mark.parametrize(
    "delta",
    [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "zz"}],
)
def test_thinking_is_seen_in_a_delta(delta: dict[str, object]) -> None:
    blocks = Blocks()
    blocks.delta(0, delta)
    assert blocks.thinking


def test_empty_strings_are_no_evidence() -> None:
    blocks = Blocks()
    for block in (
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": ""},
        {"type": "text", "text": ""},
    ):
        blocks.start(0, block)
    blocks.delta(0, {"type": "text_delta", "text": ""})
    assert (blocks.text, blocks.thinking) == (False, False)


def test_a_whole_message_has_its_calls_in_its_content() -> None:
    blocks = Blocks()
    blocks.content([{"type": "text", "text": "a"}, TOOL, {**TOOL, "input": "x"}, 3])
    assert (blocks.text, blocks.whole_calls) == (True, 1)


@pytest.mark.parametrize("value", [None, 1.5, "x", []])
def test_garbage_is_nothing(value: object) -> None:
    blocks = Blocks()
    blocks.start(0, value)
    blocks.start(value, TOOL)
    blocks.delta(0, value)
    blocks.delta(value, {"type": "input_json_delta", "partial_json": "{}"})
    blocks.stop(value)
    blocks.content(value)
    assert (blocks.text, blocks.thinking, blocks.whole_calls) == (False, False, 0)


@pytest.mark.parametrize("kind", [["text"], {"text": 1}, 3, None])
def test_a_type_that_is_no_word_shows_nothing(kind: object) -> None:
    blocks = Blocks()
    blocks.start(0, {"type": kind, "text": "a", "thinking": "b"})
    blocks.delta(0, {"type": kind, "text": "a", "thinking": "b"})
    assert (blocks.text, blocks.thinking) == (False, False)
