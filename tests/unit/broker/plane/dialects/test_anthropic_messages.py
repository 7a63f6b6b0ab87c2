import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.anthropic_messages import READER, MessageFold, read_request
from stanchion.protocol.exchange import Finish


def test_the_words_of_a_request_are_read_with_their_fields() -> None:
    raw = b"{}"
    asked = read_request(
        {
            "model": "m",
            "max_tokens": 5,
            "output_config": {"effort": "high", "format": None},
            "thinking": {"type": "enabled", "budget_tokens": 4},
            "stream": True,
            "x_unknown": None,
        },
        raw,
    )
    assert (asked.model, asked.stream) == ("m", True)
    assert (asked.output_limit, asked.output_limit_field) == (5, "max_tokens")
    assert (asked.effort, asked.effort_field) == ("high", "output_config.effort")
    assert (asked.thinking, asked.thinking_budget) == ("enabled", 4)
    assert asked.fields == (
        "max_tokens",
        "model",
        "output_config",
        "stream",
        "thinking",
        "x_unknown",
    )
    assert (asked.body_sha256, asked.body_bytes) == (hashlib.sha256(raw).hexdigest(), 2)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": 5, "max_tokens": None, "output_config": "high", "stream": "yes", "thinking": 3},
        {"output_config": {"effort": 3}, "thinking": {"type": None, "budget_tokens": True}},
        {"reasoning_effort": "max", "effort": "max", "max_output_tokens": 3},
    ],
)
def test_what_is_absent_or_said_otherwise_is_unknown(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.model, asked.output_limit, asked.effort, asked.stream) == (None,) * 4
    assert (asked.thinking, asked.thinking_budget) == (None,) * 2


def test_what_cannot_be_a_setting_is_kept_apart_from_what_is_absent() -> None:
    body = {
        "model": 5,
        "max_tokens": "5",
        "output_config": "high",
        "thinking": {"type": 3, "budget_tokens": True},
    }
    asked = read_request(body, b"")
    assert asked.malformed == {
        "model": "5",
        "output_limit": "'5'",
        "effort": "a text of 4 characters",
        "thinking": "3",
        "thinking_budget": "true",
    }
    assert read_request({"output_config": {}}, b"").malformed == {}


def test_a_limit_that_is_no_number_is_said_by_its_field() -> None:
    asked = read_request({"max_tokens": "5"}, b"")
    assert (asked.output_limit, asked.output_limit_field) == (None, "max_tokens")


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("tool_use", Finish.TOOL_USE),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("refusal", Finish.CONTENT_FILTER),
        ("pause_turn", Finish.UNKNOWN),
        ("else", Finish.UNKNOWN),
    ],
)
def test_stop_reasons_are_normalised_and_kept(word: str, finish: Finish) -> None:
    streamed, whole = MessageFold(), MessageFold()
    streamed.stream_event(b'{"type":"message_delta","delta":{"stop_reason":"%b"}}' % word.encode())
    whole.whole_body(b'{"type":"message","stop_reason":"%b"}' % word.encode())
    for fold in (streamed, whole):
        assert (fold.told().finish, fold.told().finish_raw) == (finish, word)
        assert not fold.failed


@pytest.mark.parametrize("reason", [b"null", b'""', b"3"])
def test_no_word_is_no_finish(reason: bytes) -> None:
    fold = MessageFold()
    fold.stream_event(b'{"type":"message_delta","delta":{"stop_reason":%b}}' % reason)
    assert (fold.told().finish, fold.told().finish_raw) == (None, None)


def test_only_message_stop_is_the_end_and_a_ping_means_nothing() -> None:
    fold = MessageFold()
    assert not fold.stream_event(b'{"type":"ping"}')
    assert fold.stream_event(b'{"type":"content_block_start","index":0,"content_block":{}}')
    assert not fold.done
    assert fold.stream_event(b'{"type":"message_stop"}')
    assert fold.done


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b"null", b"[DONE]", b"\xff", b"[" * 2000])
def test_what_is_no_document_is_no_event(data: bytes) -> None:
    fold = MessageFold()
    assert not fold.stream_event(data)
    assert not fold.whole_body(data)
    fold.stray_line(data)
    assert fold.told().error is None


@pytest.mark.parametrize(
    ("data", "words", "kind", "status"),
    [
        (b'{"type":"error","error":{"type":"api_error","message":"m"}}', "m", "api_error", None),
        (b'{"type":"error","error":"m"}', "m", None, None),
        (b'{"type":"error","message":"m"}', "m", None, None),
        (b'{"error":"m"}', "m", None, None),
        (b'{"type":"error"}', None, None, None),
        (b'{"error":{"message":"m","code":502}}', "m", None, 502),
        (b'{"error":{"message":3,"type":4,"code":99}}', None, None, None),
    ],
)
def test_an_error_is_seen_in_each_shape(
    data: bytes, words: str | None, kind: str | None, status: int | None
) -> None:
    fold = MessageFold()
    fold.stream_event(data)
    assert fold.failed
    error = fold.told().error
    assert error is not None
    assert (error.words, error.kind, error.status) == (words, kind, status)


def test_the_first_error_stays_and_a_null_is_none() -> None:
    fold = MessageFold()
    fold.stream_event(b'{"type":"message_stop","error":null}')
    assert not fold.failed
    fold.stray_line(b'{"error":{"message":"first"}}')
    fold.stream_event(b'{"type":"error","error":{"message":"second"}}')
    error = fold.told().error
    assert error is not None
    assert error.words == "first"


def test_every_event_that_ends_a_response_has_a_marker() -> None:
    for event in (b'{"type":"message_stop"}', b'{"type": "error", "error": {}}'):
        assert any(marker in event for marker in READER.markers)
    assert READER.stream_needs_terminal


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "message",
                        "index",
                        "delta",
                        "content_block",
                        "usage",
                        "error",
                        "content",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "error",
            "message",
        ]
    ),
)
def test_any_values_in_any_places_are_read_without_a_fault(value: object, kind: str) -> None:
    import msgspec

    document = (
        {**value, "type": kind} if isinstance(value, dict) else {"type": kind, "delta": value}
    )
    data = msgspec.json.encode(document)
    fold = MessageFold()
    fold.stream_event(data)
    fold.whole_body(data)
    assert fold.told().tool_calls >= 0
