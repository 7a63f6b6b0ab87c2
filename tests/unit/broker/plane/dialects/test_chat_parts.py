from typing import Any

import pytest

from stanchion.broker.plane.dialects.chat_parts import Parts


def read(*deltas: Any) -> tuple[bool, bool]:
    """Whether there was text, and whether there was reasoning."""
    parts = Parts()
    for delta in deltas:
        parts.take(0, delta)
    return parts.text, parts.reasoning


def says(*pieces: str) -> tuple[bool, bool]:
    return read(*({"content": piece} for piece in pieces))


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "x"},
        {"reasoning": "x"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "x"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "x"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "zz", "id": "r"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "zz"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]},
        {"tool_calls": [{"extra_content": {"google": {"thought_signature": "zz"}}}]},
    ],
)
def test_each_shape_of_reasoning_is_evidence_and_no_text(delta: dict[str, Any]) -> None:
    assert read(delta) == (False, True)


@pytest.mark.parametrize(
    "delta",
    [
        {},
        {"reasoning_content": "", "reasoning": None, "reasoning_details": []},
        {"reasoning_details": [{"type": "reasoning.text", "text": "", "id": "r", "format": "x"}]},
        {"reasoning_details": [{"index": 0}, 3, None], "reasoning": 3},
        {"reasoning_details": [[[[[["too deep"]]]]]]},
        {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": ""}, 3]},
        {"content": 3, "tool_calls": [3, {"extra_content": {"google": 3}}, {"extra_content": 3}]},
        {"refusal": "I will not."},
    ],
)
def test_what_is_empty_or_of_another_type_is_no_evidence(delta: dict[str, Any]) -> None:
    assert read(delta) == (False, False)


def test_text_may_come_in_a_list() -> None:
    assert read({"content": [{"type": "text", "text": "x"}]}) == (True, False)


@pytest.mark.parametrize(
    ("text", "shown", "thought"),
    [
        ("", False, False),
        ("answer", True, False),
        ("  \n", False, False),
        ("<", True, False),
        ("<thing>", True, False),
        ("say <think>x</think>", True, False),
        ("<think>x</think>y", True, True),
        ("\n<think>x</think>\n\n y", True, True),
        ("<think>\n\n</think>\n\ny", True, False),
        ("<think>x</think>\n", False, True),
        ("<think>x", False, True),
        ("<think>a < b </thing> c", False, True),
        ("<think>", False, False),
        ("<think></think>", False, False),
    ],
)
def test_reasoning_may_stand_in_a_tag_at_the_start(text: str, shown: bool, thought: bool) -> None:
    assert says(text) == (shown, thought)
    assert says(*text) == (shown, thought)
    for place in range(1, len(text)):
        assert says(text[:place], text[place:]) == (shown, thought), place


def test_choices_have_starts_of_their_own() -> None:
    parts = Parts()
    parts.take(0, {"content": "<think>x"})
    assert (parts.text, parts.reasoning) == (False, True)
    parts.take(1, {"content": "y"})
    assert (parts.text, parts.reasoning) == (True, True)
