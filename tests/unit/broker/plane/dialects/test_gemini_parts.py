import pytest

from stanchion.broker.plane.dialects.gemini_parts import Parts


def parts(*events: object) -> Parts:
    folded = Parts()
    for event in events:
        folded.take(event)
    return folded


@pytest.mark.parametrize(
    ("part", "text", "thinking"),
    [
        ({"text": "a"}, True, False),
        ({"text": ""}, False, False),
        ({"text": "a", "thought": True}, False, True),
        ({"text": "", "thought": True}, False, False),
        ({"text": "a", "thought": False}, True, False),
        ({"text": "", "thoughtSignature": "Eh"}, False, True),
        ({"text": "a", "thoughtSignature": ""}, True, False),
        ({"text": 5}, False, False),
        ({"inlineData": {"data": "aa"}}, False, False),
    ],
)
def test_text_and_thoughts_are_told_apart(part: object, text: bool, thinking: bool) -> None:
    folded = parts([part])
    assert (folded.text, folded.thinking) == (text, thinking)
    assert (folded.whole_calls, folded.cut_calls) == (0, 0)


@pytest.mark.parametrize(
    ("call", "whole"),
    [
        ({"name": "ls", "args": {"a": 1}}, True),
        ({"name": "ls"}, True),
        ({"name": "ls", "args": None}, True),
        ({"name": "ls", "args": "text"}, False),
        ({"name": "", "args": {}}, False),
        ({"name": 3, "args": {}}, False),
        ({"args": {}}, False),
        ({}, False),
    ],
)
def test_a_call_is_whole_with_a_name_and_an_object(call: object, whole: bool) -> None:
    folded = parts([{"functionCall": call}])
    assert (folded.whole_calls, folded.cut_calls) == (whole, not whole)


def test_streamed_arguments_are_whole_with_the_part_that_ends_them() -> None:
    start = [{"functionCall": {"name": "w", "willContinue": True}}]
    more = [{"functionCall": {"partialArgs": [{}], "willContinue": True}}]
    assert parts(start, more).cut_calls == 1
    folded = parts(start, more, [{"functionCall": {}}])
    assert (folded.whole_calls, folded.cut_calls) == (1, 0)
    nameless = parts(more, [{"functionCall": {}}])
    assert (nameless.whole_calls, nameless.cut_calls) == (0, 1)


@pytest.mark.parametrize(
    ("content", "came"),
    [
        ([{"text": "a"}], True),
        ([{"text": ""}, {"functionCall": {}}], True),
        ([{"text": "a"}, {"text": ""}], True),
        ([{"text": ""}], False),
        ([5, None], False),
        ({"text": "a"}, False),
        (None, False),
    ],
)
def test_it_is_said_whether_anything_came(content: object, came: bool) -> None:
    assert Parts().take(content) is came
