import hashlib

import pytest

from stanchion.broker.plane.dialects.openai_chat import READER, ChatFold, read_request
from stanchion.protocol.exchange import Finish


def test_the_words_of_a_request_are_read_with_their_fields() -> None:
    raw = b"{}"
    asked = read_request(
        {
            "model": "m",
            "max_completion_tokens": 5,
            "max_tokens": 5,
            "reasoning": {"effort": "high", "x": 1},
            "stream": True,
            "x_unknown": None,
        },
        raw,
    )
    assert (asked.output_limit, asked.output_limit_field) == (5, "max_completion_tokens")
    assert (asked.effort, asked.effort_field) == ("high", "reasoning.effort")
    assert asked.fields == (
        "max_completion_tokens",
        "max_tokens",
        "model",
        "reasoning",
        "stream",
        "x_unknown",
    )
    assert asked.body_sha256 == hashlib.sha256(raw).hexdigest()
    assert asked.body_bytes == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": 5, "max_tokens": None, "reasoning_effort": 3, "stream": "yes", "reasoning": "x"},
        {"max_tokens": 1.5, "reasoning": {"effort": ["high"]}},
    ],
)
def test_what_is_absent_or_of_another_type_is_unknown(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.model, asked.output_limit, asked.effort, asked.stream) == (None,) * 4


def test_two_fields_that_disagree_say_nothing_and_both_are_kept() -> None:
    """Which of them a vendor obeys, nobody knows (vllm-project/vllm#35705 sends both)."""
    body = {
        "max_completion_tokens": 128_000,
        "max_tokens": 10,
        "reasoning_effort": 1,
        "reasoning": {"effort": 2},
    }
    asked = read_request(body, b"")
    assert (asked.output_limit, asked.effort) == (None, None)
    assert asked.malformed == {
        "output_limit": "max_completion_tokens 128000, max_tokens 10",
        "effort": "reasoning_effort 1, reasoning.effort 2",
    }


def test_what_cannot_be_a_setting_is_kept_apart_from_what_is_absent() -> None:
    body = {"model": 5, "max_tokens": "4k", "reasoning": "high", "stream": 1}
    assert read_request(body, b"").malformed == {
        "model": "5",
        "output_limit": "a text of 2 characters",
        "effort": "a text of 4 characters",
        "stream": "1",
    }
    assert read_request({}, b"").malformed == {}


def test_a_finish_or_a_model_that_is_no_text_is_malformed_until_one_comes() -> None:
    fold = ChatFold()
    fold.stream_event(b'{"model":3,"choices":[{"finish_reason":7}]}')
    assert fold.told().malformed == {"model_served": "3", "finish_raw": "7"}
    fold.stream_event(b'{"model":"m","choices":[{"finish_reason":"stop"}]}')
    assert fold.told().malformed == {}


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", Finish.STOP),
        ("tool_calls", Finish.TOOL_USE),
        ("function_call", Finish.TOOL_USE),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.CONTENT_FILTER),
        ("network_error", Finish.ERROR),
        ("else", Finish.UNKNOWN),
    ],
)
def test_finish_words_are_normalised_and_kept(word: str, finish: Finish) -> None:
    fold = ChatFold()
    assert fold.stream_event(b'{"choices":[{"finish_reason":"%b"}]}' % word.encode())
    assert (fold.told().finish, fold.told().finish_raw) == (finish, word)
    assert fold.failed is (finish is Finish.ERROR)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"[]",
        b"null",
        b'{"choices":3}',
        b'{"choices":[3]}',
        b'{"choices":[{"delta":3,"finish_reason":3,"usage":3,"index":"x"}]}',
        b'{"model":3,"usage":[],"error":null}',
        b"\xff",
    ],
)
def test_nonsense_says_nothing(data: bytes) -> None:
    fold = ChatFold()
    fold.stream_event(data)
    told = fold.told()
    assert (told.finish, told.error, told.model) == (None, None, None)
    assert told.reported.usage is None
    assert (told.text, told.reasoning, told.tool_calls, fold.done) == (False, False, 0, False)


def test_done_is_terminal_and_nothing_else_is() -> None:
    fold = ChatFold()
    fold.stream_event(b'{"choices":[{"delta":{"content":"[DONE]"}}]}')
    assert not fold.done
    fold.stream_event(b" [DONE]")
    assert fold.done


@pytest.mark.parametrize(
    "member", [b'"reasoning_content":"x"', b'"reasoning":"x"', b'"reasoning_details":[{"x":1}]']
)
def test_any_form_of_reasoning_is_evidence(member: bytes) -> None:
    fold = ChatFold()
    fold.stream_event(b'{"choices":[{"delta":{%b}}]}' % member)
    assert fold.told().reasoning
    assert not fold.told().text


def test_reasoning_tokens_alone_are_evidence() -> None:
    fold = ChatFold()
    fold.stream_event(
        b'{"usage":{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":3}}}'
    )
    assert fold.told().reasoning


def test_a_whole_body_is_read_like_a_stream() -> None:
    fold = ChatFold()
    assert fold.whole_body(
        b'{"model":"m","choices":[{"message":{"content":"a","tool_calls":[{"function":'
        b'{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}'
    )
    told = fold.told()
    assert (told.text, told.tool_calls, told.model) == (True, 1, "m")
    assert not fold.whole_body(b"<html>")


def test_an_error_in_words_or_without_a_wrapper_is_one() -> None:
    for data in (b'{"error":"boom"}', b'{"object":"error","message":"boom","code":500}'):
        fold = ChatFold()
        fold.stream_event(data)
        error = fold.told().error
        assert error is not None
        assert error.words == "boom"
        assert fold.failed


def test_every_end_and_error_carries_a_marker() -> None:
    """What has no marker may leave before it is read: this is what makes that sound."""
    for event in (b"[DONE]", b'{"error":{}}', b'{"finish_reason":"network_error"}'):
        assert any(marker in event for marker in READER.markers)
