import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.base import Told
from stanchion.broker.plane.dialects.openai_responses import (
    READER,
    TERMINAL,
    ResponseFold,
    read_request,
)
from stanchion.protocol.exchange import Finish

TEXT = {"type": "message", "content": [{"type": "output_text", "text": "a"}]}
CALL = {"type": "function_call", "name": "ls", "arguments": "{}"}


def test_the_words_of_a_request_are_read_with_their_fields() -> None:
    raw = b"{}"
    body = {
        "model": "m",
        "max_output_tokens": 5,
        "reasoning": {"effort": "xhigh", "summary": "auto"},
        "store": False,
        "stream": True,
        "input": [],
    }
    asked = read_request(body, raw)
    assert (asked.model, asked.stream) == ("m", True)
    assert (asked.output_limit, asked.output_limit_field) == (5, "max_output_tokens")
    assert (asked.effort, asked.effort_field) == ("xhigh", "reasoning.effort")
    assert asked.fields == ("input", "max_output_tokens", "model", "reasoning", "store", "stream")
    assert (asked.body_sha256, asked.body_bytes) == (hashlib.sha256(raw).hexdigest(), 2)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": 5, "max_output_tokens": None, "reasoning": "high", "stream": "yes"},
        {"reasoning": {"effort": None}, "max_output_tokens": None},
        {"reasoning_effort": "max", "max_tokens": 3, "max_completion_tokens": 3},
    ],
)
def test_what_is_absent_or_said_otherwise_is_unknown(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.model, asked.output_limit, asked.effort, asked.stream) == (None,) * 4
    assert (asked.output_limit_field, asked.effort_field) == (None, None)


@pytest.mark.parametrize("limit", ["5", True, 5.0])
def test_a_limit_that_is_no_number_is_said_by_its_field(limit: object) -> None:
    asked = read_request({"max_output_tokens": limit}, b"")
    assert (asked.output_limit, asked.output_limit_field) == (None, "max_output_tokens")


def both(response: dict[str, Any], event: str = "response.completed") -> tuple[Told, Told]:
    """The response at the end of a stream, and as a whole body."""
    streamed, whole = ResponseFold(), ResponseFold()
    streamed.stream_event(msgspec.json.encode({"type": event, "response": response}))
    whole.whole_body(msgspec.json.encode({"object": "response", **response}))
    return streamed.told(), whole.told()


@pytest.mark.parametrize(
    ("response", "finish", "raw"),
    [
        ({"status": "completed"}, Finish.STOP, "completed"),
        ({"status": "completed", "output": [TEXT]}, Finish.STOP, "completed"),
        ({"status": "completed", "output": [TEXT, CALL]}, Finish.TOOL_USE, "completed"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Finish.LENGTH,
            "max_output_tokens",
        ),
        (
            {"status": "completed", "incomplete_details": {"reason": "max_output_tokens"}},
            Finish.LENGTH,
            "max_output_tokens",
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
                "output": [CALL],
            },
            Finish.CONTENT_FILTER,
            "content_filter",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "steered"}},
            Finish.UNKNOWN,
            "steered",
        ),
        ({"status": "incomplete", "incomplete_details": None}, Finish.UNKNOWN, "incomplete"),
        ({"status": "cancelled"}, Finish.UNKNOWN, "cancelled"),
        (
            {"status": "failed", "incomplete_details": {"reason": "max_output_tokens"}},
            Finish.ERROR,
            "failed",
        ),
    ],
)
def test_a_finish_is_the_reason_or_the_status(
    response: dict[str, Any], finish: Finish, raw: str
) -> None:
    for told in both(response):
        assert (told.finish, told.finish_raw) == (finish, raw)


def test_the_response_object_beats_the_name_of_its_event_unless_it_is_not_over() -> None:
    cut, _ = both(
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        "response.completed",
    )
    stale, running = both({"status": "in_progress"}, "response.completed")
    assert cut.finish is Finish.LENGTH
    assert (stale.finish_raw, running.finish_raw) == ("completed", None)


@pytest.mark.parametrize(("event", "status"), TERMINAL.items())
@pytest.mark.parametrize("response", [None, {}, {"status": None}, 3])
def test_a_terminal_event_speaks_for_a_response_that_does_not(
    event: str, status: str, response: object
) -> None:
    fold = ResponseFold()
    assert fold.stream_event(msgspec.json.encode({"type": event, "response": response}))
    assert (fold.done, fold.told().finish_raw) == (True, status)
    assert fold.failed is (status == "failed")


def test_only_a_terminal_event_is_the_end() -> None:
    fold = ResponseFold()
    started = b'{"type":"response.created","response":{"model":"m","status":"in_progress"}}'
    assert fold.stream_event(started)
    assert fold.stream_event(b'{"type":"response.output_text.delta","delta":"a"}')
    assert fold.stream_event(b'{"type":"response.output_text.done","text":"a"}')
    told = fold.told()
    assert not fold.done
    assert (told.model, told.text, told.finish) == ("m", True, None)


@pytest.mark.parametrize("kind", ["keepalive", "ping", "response.in_progress", "response.queued"])
def test_a_sign_of_life_means_nothing(kind: str) -> None:
    assert not ResponseFold().stream_event(b'{"type":"%b","sequence_number":3}' % kind.encode())


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b"null", b"[DONE]", b"\xff", b"[" * 2000])
def test_what_is_no_document_is_no_event(data: bytes) -> None:
    fold = ResponseFold()
    assert not fold.stream_event(data)
    assert not fold.whole_body(data)
    fold.stray_line(data)
    assert fold.told().error is None


@pytest.mark.parametrize(
    ("data", "words", "code", "kind", "status"),
    [
        (b'{"type":"error","code":"c","message":"m","param":null}', "m", "c", None, None),
        (b'{"type":"error","error":{"type":"t","code":"c","message":"m"}}', "m", "c", "t", None),
        (
            b'{"type":"error","error":{"type":"t","message":"m"},"status_code":429}',
            "m",
            None,
            "t",
            429,
        ),
        (b'{"type":"error"}', None, None, None, None),
        (b'{"error":{"message":"m","code":502}}', "m", None, None, 502),
        (b'{"error":"m"}', "m", None, None, None),
    ],
)
def test_an_error_is_seen_in_each_shape(
    data: bytes, words: str | None, code: str | None, kind: str | None, status: int | None
) -> None:
    streamed, whole, stray = ResponseFold(), ResponseFold(), ResponseFold()
    streamed.stream_event(data)
    whole.whole_body(data)
    stray.stray_line(data)
    for fold in (streamed, whole, stray):
        error = fold.told().error
        assert fold.failed
        assert error is not None
        assert (error.words, error.code, error.kind, error.status) == (words, code, kind, status)


@pytest.mark.parametrize(
    ("body", "words", "kind", "status"),
    [
        (
            b'{"object":"error","message":"m","type":"BadRequestError","code":400}',
            "m",
            "BadRequestError",
            400,
        ),
        (b'{"detail":"m"}', "m", None, None),
        (b'{"object":"response","status":"failed","error":{"message":"m"}}', "m", None, None),
    ],
)
def test_a_body_may_be_an_error(
    body: bytes, words: str, kind: str | None, status: int | None
) -> None:
    fold = ResponseFold()
    assert fold.whole_body(body)
    error = fold.told().error
    assert error is not None
    assert (error.words, error.kind, error.status) == (words, kind, status)


def test_no_error_is_none() -> None:
    for told in both({"status": "completed", "error": None, "detail": "m"}):
        assert told.error is None


def test_the_first_error_that_says_anything_stays() -> None:
    fold = ResponseFold()
    fold.stream_event(b'{"type":"response.failed","response":{"status":"failed","error":null}}')
    assert fold.failed
    assert fold.told().error is None
    fold.stream_event(b'{"type":"error","error":{}}')
    fold.stream_event(b'{"type":"error","error":{"code":"first"}}')
    fold.stream_event(b'{"type":"error","code":"second"}')
    error = fold.told().error
    assert error is not None
    assert (error.code, fold.told().finish_raw) == ("first", "failed")


@pytest.mark.parametrize(
    ("item", "tokens", "present"),
    [
        ({"type": "reasoning", "summary": []}, None, True),
        ({"type": "reasoning", "summary": [], "encrypted_content": "g"}, None, True),
        ({"type": "reasoning", "summary": [], "encrypted_content": "g"}, 0, True),
        ({"type": "reasoning", "summary": [], "encrypted_content": ""}, 0, False),
        ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]}, 0, True),
        (TEXT, 5, True),
        (TEXT, 0, False),
        (TEXT, None, False),
    ],
)
def test_reasoning_by_item_by_text_and_by_count(
    item: dict[str, object], tokens: int | None, present: bool
) -> None:
    details = {} if tokens is None else {"reasoning_tokens": tokens}
    usage = {"input_tokens": 1, "output_tokens": 9, "output_tokens_details": details}
    for told in both({"status": "completed", "output": [item], "usage": usage}):
        assert told.reasoning is present


def test_usage_is_that_of_the_final_response() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    for told in both({"status": "completed", "usage": usage}):
        assert told.reported.usage is not None
        assert msgspec.structs.asdict(told.reported.usage) == {
            "input_tokens": 10,
            "output_tokens": 7,
            "reasoning_tokens": 3,
            "cache_read_tokens": 4,
            "cache_write_tokens": 2,
        }
    for told in both({"status": "completed", "usage": None}):
        assert (told.reported.usage, told.reported.why) == (None, "the provider reported no usage")


def test_every_event_that_ends_a_response_has_a_marker() -> None:
    for kind in (*TERMINAL, "error"):
        for event in (b'{"type":"%b"}', b'{"sequence_number":1, "type": "%b"}'):
            assert any(marker in event % kind.encode() for marker in READER.markers)
    assert READER.stream_needs_terminal


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "response",
                    "item",
                    "output",
                    "status",
                    "usage",
                    "error",
                    "content",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    _VALUES,
    st.sampled_from(
        [
            "response.created",
            "response.output_item.added",
            "response.output_item.done",
            "response.output_text.delta",
            "response.reasoning_text.delta",
            "response.function_call_arguments.delta",
            "response.completed",
            "response.failed",
            "error",
        ]
    ),
)
def test_any_values_in_any_places_are_read_without_a_fault(value: object, kind: str) -> None:
    members = value if isinstance(value, dict) else {"item": value, "response": value}
    fold = ResponseFold()
    fold.stream_event(msgspec.json.encode({**members, "type": kind}))
    fold.whole_body(msgspec.json.encode({**members, "object": "response"}))
    assert fold.told().tool_calls >= 0
