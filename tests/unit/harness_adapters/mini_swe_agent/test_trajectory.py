import json

import pytest

from stanchion.harness_adapters.mini_swe_agent import trajectory


def read(**message: object) -> trajectory.Message | None:
    (raw,) = trajectory.messages(json.dumps({"messages": [message]})) or ()
    return trajectory.message(raw)


def test_content_is_a_text_or_pieces_of_which_some_are() -> None:
    pieces = [{"type": "text", "text": "a"}, {"type": "image"}, "x", {"text": 1}, {"text": "b"}]
    for content, text in ((None, ""), ("t", "t"), (pieces, "a\nb")):
        message = read(role="user", content=content)
        assert message is not None
        assert message.text == text


@pytest.mark.parametrize("seconds", [-1, 1e300, None])
def test_a_time_that_is_none_is_unknown(seconds: float | None) -> None:
    message = read(role="user", extra={"timestamp": seconds})
    assert message is not None
    assert message.extra.at_ms is None


def test_a_response_that_could_only_be_printed_is_kept_as_text() -> None:
    message = read(role="user", extra={"response": "ModelResponse(...)"})
    assert message is not None
    assert message.extra.response == "ModelResponse(...)"


def test_an_answer_is_empty_without_text_and_call() -> None:
    assert trajectory.Response().is_empty
    said = trajectory.Message(content="x")
    assert not trajectory.Response(choices=(trajectory.Choice(message=said),)).is_empty
