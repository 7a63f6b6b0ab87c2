import pytest

from stanchion.broker.plane.dialects.openai_chat import FINISHES, READER, ChatFold
from stanchion.protocol.exchange import Finish


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", Finish.STOP),
        ("tool_calls", Finish.TOOL_USE),
        ("function_call", Finish.TOOL_USE),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.CONTENT_FILTER),
        ("network_error", Finish.ERROR),
        ("insufficient_system_resource", Finish.ERROR),
        ("abort", Finish.ERROR),
        ("sensitive", Finish.CONTENT_FILTER),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("model_length", Finish.LENGTH),
        ("eos_hit", Finish.UNKNOWN),
        ("Stop", Finish.UNKNOWN),
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


def test_a_finish_or_a_model_that_is_no_text_is_malformed_until_one_comes() -> None:
    fold = ChatFold()
    fold.stream_event(b'{"model":3,"choices":[{"finish_reason":7}]}')
    assert fold.told().malformed == {"model_served": "3", "finish_raw": "7"}
    fold.stream_event(b'{"model":"m","choices":[{"finish_reason":"stop"}]}')
    assert fold.told().malformed == {}


def test_done_is_terminal_and_nothing_else_is() -> None:
    fold = ChatFold()
    fold.stream_event(b'{"choices":[{"delta":{"content":"[DONE]"}}]}')
    assert not fold.done
    fold.stream_event(b" [DONE]")
    assert fold.done


@pytest.mark.parametrize(
    "member", [b'"reasoning_content":"x"', b'"reasoning":"x"', b'"reasoning_details":[{"x":"1"}]']
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
    for event in (
        b"[DONE]",
        b'{"error":{}}',
        b'{"object":"error"}',
        *(b'{"finish_reason":"%b"}' % w.encode() for w, f in FINISHES.items() if f is Finish.ERROR),
    ):
        assert any(marker in event for marker in READER.markers)


def test_of_several_model_names_the_last_is_the_one_that_served() -> None:
    fold = ChatFold()
    for data in (b'{"model":"alias"}', b'{"model":"fx-1"}', b'{"model":""}', b'{"model":null}'):
        fold.stream_event(data)
    assert fold.told().model == "fx-1"


def test_an_error_inside_a_choice_is_one_and_the_first_stays() -> None:
    fold = ChatFold()
    fold.stream_event(
        b'{"choices":[{"error":{"code":502,"message":"gone"},"finish_reason":"stop"}]}'
    )
    fold.stream_event(b'{"error":{"message":"later"}}')
    error = fold.told().error
    assert error is not None
    assert (error.words, error.status, fold.failed) == ("gone", 502, True)
