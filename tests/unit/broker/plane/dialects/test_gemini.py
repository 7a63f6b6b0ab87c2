import hashlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.gemini import (
    FINISHES,
    MAX_STRAY_BYTES,
    READER,
    GenerateFold,
    read_request,
)
from stanchion.broker.plane.fields.policy import first_denied
from stanchion.broker.plane.fields.table import TWIN_FIELDS
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Finish


def candidate(finish: object = None, *parts: object, index: object = 0) -> bytes:
    said: dict[str, object] = {"content": {"parts": list(parts)}, "index": index}
    if finish is not None:
        said["finishReason"] = finish
    return msgspec.json.encode({"candidates": [said]})


def after(*events: bytes) -> GenerateFold:
    fold = GenerateFold()
    for event in events:
        fold.stream_event(event)
    return fold


def test_the_words_of_a_request_are_read_with_their_fields() -> None:
    raw = b"{}"
    config = {
        "maxOutputTokens": 5,
        "thinkingConfig": {"thinkingLevel": "high", "thinkingBudget": -1},
    }
    asked = read_request({"generationConfig": config, "contents": [], "x_unknown": 1}, raw)
    assert (asked.model, asked.stream) == (None, None)
    assert (asked.output_limit, asked.output_limit_field) == (5, "generationConfig.maxOutputTokens")
    assert (asked.effort, asked.effort_field) == (
        "high",
        "generationConfig.thinkingConfig.thinkingLevel",
    )
    assert asked.thinking_budget == -1
    assert asked.fields == ("contents", "generationConfig", "x_unknown")
    assert (asked.body_sha256, asked.body_bytes) == (hashlib.sha256(raw).hexdigest(), 2)


def test_the_other_spelling_of_a_field_is_the_same_field() -> None:
    config = {"max_output_tokens": 5, "thinking_config": {"thinking_level": "LOW"}}
    asked = read_request({"generation_config": config, "model": "models/m"}, b"")
    assert asked.model == "models/m"
    assert (asked.output_limit, asked.output_limit_field) == (
        5,
        "generation_config.max_output_tokens",
    )
    assert (asked.effort, asked.effort_field) == (
        "low",
        "generation_config.thinking_config.thinking_level",
    )


@pytest.mark.parametrize(
    ("level", "word"),
    [
        ("HIGH", "high"),
        ("Minimal", "minimal"),
        ("ULTRA", "ULTRA"),
        ("", ""),
        ("\uff2fW", "\uff2fW"),
    ],
)
def test_a_known_level_is_its_word_however_it_is_spelled(level: str, word: str) -> None:
    config = {"thinkingConfig": {"thinkingLevel": level}}
    assert read_request({"generationConfig": config}, b"").effort == word


@pytest.mark.parametrize(
    "body",
    [
        {"generationConfig": {"maxOutputTokens": 5}, "generation_config": {}},
        {"generationConfig": {"maxOutputTokens": 5, "max_output_tokens": 5}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "a"}, "thinking_config": None}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "a", "thinking_level": "b"}}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinking_budget": 2}}},
    ],
)
def test_a_field_in_two_spellings_is_unknown_and_never_sent(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.output_limit, asked.effort, asked.thinking_budget) == (None,) * 3
    denied = first_denied(Dialect.GEMINI, body, frozenset())
    assert denied is not None
    assert denied.name == TWIN_FIELDS


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": 5, "generationConfig": 7},
        {"generationConfig": {"maxOutputTokens": None, "thinkingConfig": []}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": 3, "thinkingBudget": True}}},
        {"maxOutputTokens": 5, "thinkingLevel": "high", "max_tokens": 5, "stream": True},
    ],
)
def test_what_is_absent_or_said_otherwise_is_unknown(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.model, asked.output_limit, asked.effort, asked.stream) == (None,) * 4
    assert (asked.output_limit_field, asked.thinking_budget) == (None,) * 2


def test_what_cannot_be_a_setting_is_kept_apart_from_what_is_absent() -> None:
    thinking = {"thinkingLevel": 3, "thinkingBudget": True}
    asked = read_request(
        {"model": 5, "generationConfig": {"maxOutputTokens": -1.5, "thinkingConfig": thinking}}, b""
    )
    assert asked.malformed == {
        "model": "5",
        "output_limit": "-1.5",
        "effort": "3",
        "thinking_budget": "true",
    }


def test_a_limit_that_is_no_number_is_said_by_its_field() -> None:
    asked = read_request({"generationConfig": {"maxOutputTokens": "5"}}, b"")
    assert (asked.output_limit, asked.output_limit_field) == (
        None,
        "generationConfig.maxOutputTokens",
    )


@pytest.mark.parametrize(
    ("word", "finish"), [*FINISHES.items(), ("OTHER", Finish.UNKNOWN), ("else", Finish.UNKNOWN)]
)
def test_reasons_are_normalised_and_kept(word: str, finish: Finish) -> None:
    streamed, whole = after(candidate(word)), GenerateFold()
    whole.whole_body(candidate(word))
    for fold in (streamed, whole):
        assert (fold.told().finish, fold.told().finish_raw) == (finish, word)
        assert not fold.failed


def test_a_stop_with_a_whole_call_hands_over_to_the_tool() -> None:
    call = {"functionCall": {"name": "ls"}}
    assert after(candidate("STOP", call)).told().finish is Finish.TOOL_USE
    assert after(candidate("MAX_TOKENS", call)).told().finish is Finish.LENGTH
    cut = after(candidate("STOP", {"functionCall": {}})).told()
    assert (cut.finish, cut.cut_calls) == (Finish.STOP, 1)


def test_a_call_that_could_not_be_read_counts_as_cut() -> None:
    told = after(candidate("MALFORMED_FUNCTION_CALL")).told()
    assert (told.finish, told.tool_calls, told.cut_calls) == (Finish.UNKNOWN, 0, 1)


@pytest.mark.parametrize("reason", [None, "", 3])
def test_no_word_is_no_reason(reason: object) -> None:
    told = after(candidate(reason)).told()
    assert (told.finish, told.finish_raw) == (None, None)


def test_a_reason_that_content_follows_was_no_ending() -> None:
    stop, text, more = candidate("STOP"), candidate(None, {"text": "a"}), candidate(None)
    assert after(stop, text).told().finish is None
    assert after(stop, more).told().finish is Finish.STOP
    assert after(stop, text, stop).told().finish is Finish.STOP


def test_the_first_candidate_decides() -> None:
    other = candidate("MAX_TOKENS", {"text": "b"}, index=1)
    assert after(candidate("STOP"), other).told().finish_raw == "STOP"
    assert after(other, candidate(None, {"text": "a"})).told().finish_raw is None
    assert after(candidate("STOP", index="x")).told().finish_raw == "STOP"


def test_a_blocked_prompt_is_filtered_whatever_the_word() -> None:
    told = after(b'{"promptFeedback":{"blockReason":"NEW_WORD"}}').told()
    assert (told.finish, told.finish_raw) == (Finish.CONTENT_FILTER, "NEW_WORD")
    for feedback in (b"{}", b"5", b'{"blockReason":""}', b'{"blockReason":3}'):
        assert after(b'{"promptFeedback":%b}' % feedback).told().finish is None


def test_no_event_is_the_last_one_but_a_reason_may_be() -> None:
    fold = after(candidate(None, {"text": "a"}))
    assert not fold.done
    assert not READER.may_be_last(fold)
    fold.stream_event(candidate("STOP"))
    assert READER.may_be_last(fold)
    fold.stream_event(b'{"usageMetadata":{"promptTokenCount":3}}')
    assert not READER.may_be_last(fold)
    fold.stream_event(candidate("STOP"))
    assert not READER.may_be_last(fold)
    assert not fold.done


def test_an_error_over_several_lines_is_read_when_it_is_whole() -> None:
    fold = GenerateFold()
    text = json.dumps({"error": {"code": 503, "message": "m"}}, indent=2).encode()
    *lines, last = text.splitlines()
    for line in lines:
        fold.stray_line(line)
        assert READER.may_be_last(fold)
        assert not fold.failed
    fold.stray_line(last)
    error = fold.told().error
    assert error is not None
    assert (error.words, error.status) == ("m", 503)
    assert not READER.may_be_last(fold)


def test_stray_lines_are_kept_within_bounds_and_forgotten_with_the_next_event() -> None:
    fold = GenerateFold()
    fold.stray_line(b"upstream reset")
    assert not READER.may_be_last(fold)
    fold.stray_line(b"{")
    fold.stream_event(candidate(None))
    assert not READER.may_be_last(fold)
    fold.stray_line(b"{")
    fold.stray_line(b"x" * MAX_STRAY_BYTES)
    assert not READER.may_be_last(fold)
    assert not fold.failed


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b"[1]", b"null", b"[DONE]", b"\xff"])
def test_what_is_no_document_is_no_event(data: bytes) -> None:
    fold = GenerateFold()
    assert not fold.stream_event(data)
    assert not fold.whole_body(data)
    assert not fold.whole_body(b"[" * 2000)
    fold.stray_line(data)
    assert fold.told().error is None


@pytest.mark.parametrize(
    "data", [b'{"error":{"message":"m"}}', b'{"error":"m"}', b'[{"error":{"message":"m"}}]']
)
def test_an_error_is_seen_in_each_shape_and_the_first_one_stays(data: bytes) -> None:
    fold = after(b'{"error":null}')
    assert not fold.failed
    fold.stream_event(data)
    fold.stream_event(b'{"error":{"message":"second"}}')
    assert fold.failed
    error = fold.told().error
    assert error is not None
    assert error.words == "m"


def test_the_first_model_that_is_named_stays() -> None:
    fold = after(b'{"modelVersion":""}', b'{"modelVersion":"a"}', b'{"modelVersion":"b"}')
    assert fold.told().model == "a"


def test_counted_thoughts_are_reasoning_and_outside_of_the_output() -> None:
    usage = b'{"usageMetadata":{"thoughtsTokenCount":5,"candidatesTokenCount":2}}'
    told = after(usage, candidate("STOP")).told()
    assert told.reasoning
    assert told.reported.output_includes_reasoning is False
    assert after(usage).told().reasoning
    assert after(candidate("STOP")).told().reported.output_includes_reasoning is None


def test_every_event_that_may_end_a_response_has_a_marker() -> None:
    for event in (
        candidate("STOP"),
        b'{"promptFeedback": {"blockReason": "SAFETY"}}',
        b'{"error": {}}',
    ):
        assert any(marker in event for marker in READER.markers)
    assert not READER.stream_needs_terminal


_MEMBERS = [
    "candidates",
    "content",
    "parts",
    "functionCall",
    "finishReason",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "error",
    "details",
    "index",
]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_values_in_any_places_are_read_without_a_fault(value: object) -> None:
    for document in (value, {"candidates": [value]}, {"candidates": [{"content": value}]}):
        data = msgspec.json.encode(document)
        fold = GenerateFold()
        fold.stream_event(data)
        fold.whole_body(data)
        fold.stray_line(data)
        assert fold.told().tool_calls >= 0
