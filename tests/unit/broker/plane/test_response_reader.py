import dataclasses
import hashlib

import pytest

from stanchion.broker.plane.dialects.anthropic_messages import READER as ANTHROPIC
from stanchion.broker.plane.dialects.gemini import READER as GEMINI
from stanchion.broker.plane.dialects.openai_chat import READER, ChatFold
from stanchion.broker.plane.limits import MAX_UNREAD_BYTES
from stanchion.broker.plane.response_reader import (
    Form,
    ResponseReader,
    form_of,
)
from stanchion.protocol.exchange import AnswerFlag, ErrorClass, ExchangeResult

TEXT = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


def reader(form: Form = Form.EVENTS, status: int = 200) -> ResponseReader:
    return ResponseReader(READER, status=status, form=form, output_limit=5)


@pytest.mark.parametrize(
    ("content_type", "form"),
    [
        (None, Form.JSON),
        ("application/json; charset=utf-8", Form.JSON),
        ("application/problem+json", Form.JSON),
        ("Text/Event-Stream;charset=utf-8", Form.EVENTS),
        ("text/html", Form.OTHER),
    ],
)
def test_the_form_follows_the_content_type(content_type: str | None, form: Form) -> None:
    assert form_of(content_type) is form


def test_plain_chunks_may_leave_before_they_are_read() -> None:
    tap = reader()
    assert tap.holds_from(TEXT + STOP) is None


def test_bytes_from_the_terminal_event_on_are_held() -> None:
    tap = reader()
    place = tap.holds_from(TEXT + DONE)
    assert place is not None
    assert (TEXT + DONE)[place:] == b"[DONE]\n\n"
    tap.passed(TEXT + DONE, 0.0)
    assert tap.terminal
    assert not tap.undecided


@pytest.mark.parametrize("cut", range(1, len(DONE)))
def test_a_terminal_event_is_found_wherever_it_is_cut(cut: int) -> None:
    tap = reader()
    tap.saw(TEXT)
    held_from_first = tap.holds_from(DONE[:cut])
    tap.passed(DONE[:cut], 0.0)
    held_from_second = tap.holds_from(DONE[cut:])
    left = DONE[:cut] if held_from_first is None else DONE[:cut][:held_from_first]
    if held_from_first is None and held_from_second is not None:
        left += DONE[cut:][:held_from_second]
    assert held_from_first is not None or held_from_second is not None
    assert b"[DONE]" not in left


def test_the_marker_inside_a_text_is_decided_when_the_event_ends() -> None:
    tap = reader()
    start, rest = b'data: {"choices":[{"delta":{"content":"say [DONE]', b' now"}}]}\n\n'
    assert tap.holds_from(start) is not None
    tap.passed(start, 0.0)
    assert tap.undecided
    tap.saw(rest)
    assert not tap.undecided
    assert not tap.terminal


def test_a_json_body_is_never_held_by_its_content() -> None:
    tap = reader(Form.JSON)
    assert tap.holds_from(b'{"error":{}}') is None
    tap.passed(b'{"error":{}}', 0.0)
    assert not tap.terminal
    assert not tap.by_events


def test_the_digest_covers_every_byte() -> None:
    tap = reader()
    for piece in (TEXT, STOP, DONE):
        tap.saw(piece)
    answered = tap.answered(complete=True)
    assert answered.body_sha256 == hashlib.sha256(TEXT + STOP + DONE).hexdigest()
    assert answered.body_bytes == len(TEXT + STOP + DONE)
    assert tap.semantic_events == 3


def test_what_is_read_late_counts_from_when_it_came() -> None:
    tap = reader()
    assert tap.semantic_at == float("-inf")
    for piece, at in ((TEXT, 1.0), (TEXT[:9], 2.0), (TEXT[9:], 3.0), (b": ping\n\n", 4.0)):
        assert tap.holds_from(piece) is None
        tap.passed(piece, at)
    assert tap.semantic_at == 3.0
    tap.saw(TEXT, 5.0)
    assert (tap.semantic_at, tap.semantic_events) == (5.0, 3)


@pytest.mark.parametrize("piece", [TEXT, TEXT[:-1], b"data: " + b"x" * 5000])
def test_what_waits_to_be_read_is_bounded(piece: bytes) -> None:
    read: list[bytes] = []

    class Fold(ChatFold):
        def stream_event(self, data: bytes) -> bool:
            read.append(data)
            return super().stream_event(data)

    tap = ResponseReader(
        dataclasses.replace(READER, new_fold=Fold), status=200, form=Form.EVENTS, output_limit=5
    )
    came = 0
    while came < 4 * MAX_UNREAD_BYTES:
        tap.saw(piece + b"\n\n", 0.0)
        came += len(piece) + 2
        assert came - sum(map(len, read)) - 10 * len(read) <= MAX_UNREAD_BYTES + len(piece)
    assert read


PLAIN = (
    b'data: {"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":'
    b'{"content":"hi"}}]}\n\n'
)
OTHER = PLAIN.replace(b'"m"', b'"router/m"')
CALL = PLAIN.replace(b'"content":"hi"', b'"tool_calls":[{"index":0,"function":{"name":"a"}}]')
PING = b": ping\n\n"


def framed(*pieces: bytes, unframed: set[int]) -> ResponseReader:
    """A reader that knew the frame of PLAIN, and was told so of these pieces."""
    tap = reader()
    tap.passed_all([PLAIN, PLAIN], [1.0, 2.0], [0, 1])  # before the first there may be a mark
    tap.passed_all([PLAIN], [3.0], [0])
    assert tap.frame is not None
    assert tap.frame.start + b"hi" + tap.frame.end == PLAIN
    tap.passed_all(list(pieces), [4.0 + at for at in range(len(pieces))], sorted(unframed))
    return tap


@pytest.mark.parametrize(
    ("pieces", "unframed"),
    [
        ((PLAIN, PLAIN), set[int]()),
        ((PLAIN, PLAIN), {1}),
        ((PLAIN, PING), {1}),
        ((PING, PLAIN), {0}),
        ((PLAIN + PLAIN, PLAIN), {0}),
        ((PLAIN, OTHER), {1}),
        ((OTHER, PLAIN), {0}),
        ((OTHER, PLAIN, OTHER, PLAIN, PLAIN), {0, 2}),
        ((CALL, PLAIN, PING), {0, 2}),
        ((PLAIN, PING, PING), {1, 2}),
        ((PLAIN, CALL), {0, 1}),
        ((b"junk\n\n", PLAIN), {0}),
    ],
)
def test_events_in_the_frame_are_told_as_if_they_were_read(
    pieces: tuple[bytes, ...], unframed: set[int]
) -> None:
    tap, slow = framed(*pieces, unframed=unframed), reader()
    for at, piece in enumerate((PLAIN, PLAIN, PLAIN, *pieces), 1):
        slow.saw(piece, float(at))
    assert (tap.semantic_events, tap.semantic_at) == (slow.semantic_events, slow.semantic_at)
    assert tap.answered(complete=True) == slow.answered(complete=True)


def test_events_in_the_frame_are_not_decoded() -> None:
    read: list[bytes] = []

    class Fold(ChatFold):
        def stream_event(self, data: bytes) -> bool:
            read.append(data)
            return super().stream_event(data)

    reading = dataclasses.replace(READER, new_fold=Fold)
    tap = ResponseReader(reading, status=200, form=Form.EVENTS, output_limit=None)
    for _ in range(2):
        tap.passed_all([PLAIN], [0.0], [0])
    read.clear()
    tap.passed_all([PLAIN, PING, PLAIN], [1.0, 2.0, 3.0], [1])
    assert (read, tap.semantic_events) == ([], 4)


def test_behind_the_beginning_of_an_event_none_is_taken_as_framed() -> None:
    tap = framed(PLAIN, unframed=set())
    begun = b"data: {\n"
    assert tap.holds_from(begun) is None
    tap.passed(begun, 9.0)
    assert tap.at_rest
    tap.passed_all([PLAIN, PLAIN], [10.0, 11.0], [])
    slow = reader()
    for piece in (PLAIN, PLAIN, PLAIN, PLAIN, begun, PLAIN, PLAIN):
        slow.saw(piece)
    assert tap.semantic_events == slow.semantic_events == 5
    assert tap.answered(complete=True) == slow.answered(complete=True)


def test_around_a_long_text_no_frame_is_looked_for() -> None:
    tap = framed(PLAIN, unframed=set())
    long = PLAIN.replace(b"hi", b"x" * MAX_UNREAD_BYTES)
    tap.passed_all([long], [9.0], [0])
    assert tap.frame is None
    assert tap.semantic_events == 5


def test_a_reader_that_gave_up_takes_none_either() -> None:
    tap = framed(PLAIN, unframed=set())
    tap.passed(b"data: " + b"x" * (16 * 1024 * 1024 + 1), 9.0)
    assert tap.semantic_at == 4.0
    for unframed in ([], [0]):
        tap.passed_all([PLAIN], [10.0], unframed)
        assert (tap.semantic_events, tap.semantic_at) == (4, 4.0)


def test_a_terminal_event_behind_unread_ones_is_decided_at_once() -> None:
    tap = reader()
    for _ in range(3):
        assert tap.holds_from(TEXT) is None
        tap.passed(TEXT, 0.0)
    assert tap.holds_from(DONE) is not None
    tap.passed(DONE, 0.0)
    assert (tap.terminal, tap.semantic_events) == (True, 4)


def test_comments_are_no_semantic_events() -> None:
    tap = reader()
    tap.saw(b": ping\n\n: ping\n\n")
    assert tap.semantic_events == 0


def test_a_finish_that_came_counts_although_the_transport_was_cut() -> None:
    tap = reader()
    tap.saw(TEXT + STOP)
    assert tap.answered(complete=False).result is ExchangeResult.COMPLETED


def test_a_json_body_that_was_cut_is_truncated() -> None:
    tap = reader(Form.JSON)
    tap.saw(b'{"choices":[{"finish_reason":"stop"}')
    answered = tap.answered(complete=False)
    assert answered.result is ExchangeResult.TRUNCATED
    assert answered.reasoning_present is None


def test_a_client_that_left_is_said_so_whatever_came() -> None:
    tap = reader()
    tap.saw(TEXT + STOP + DONE)
    answered = tap.answered(complete=True, client_gone=True)
    assert answered.result is ExchangeResult.CLIENT_GONE
    assert answered.usage_why == "the client left before usage came"


def test_a_stream_beyond_the_caps_is_unreadable_not_an_error_of_ours() -> None:
    tap = reader()
    tap.saw(b"data: " + b"x" * (16 * 1024 * 1024 + 1))
    tap.saw(DONE)
    assert tap.holds_from(DONE) is None
    answered = tap.answered(complete=True)
    assert answered.result is ExchangeResult.UNREADABLE
    assert (answered.text_present, answered.tool_calls, answered.cut_tool_calls) == (None,) * 3


def test_what_was_seen_before_reading_failed_stays_seen() -> None:
    tap = reader()
    tap.saw(TEXT)
    tap.saw(b"data: " + b"x" * (16 * 1024 * 1024 + 1))
    answered = tap.answered(complete=True)
    assert (answered.text_present, answered.tool_calls) == (True, None)


def test_figures_that_cannot_be_are_named_as_they_are_on_record() -> None:
    tap = reader()
    usage = b'{"choices":[],"usage":{"prompt_tokens":-7,"completion_tokens":0}}'
    tap.saw(TEXT + STOP + b"data: " + usage + b"\n\n" + DONE)
    answered = tap.answered(complete=True)
    assert answered.malformed == {"usage.input_tokens": "-7", "usage.output_tokens": "0"}
    assert answered.flags == (AnswerFlag.USAGE_CONTRADICTION,)
    assert (answered.input_includes_cache, answered.output_includes_reasoning) == (True, True)


def test_a_completed_response_without_figures_is_flagged() -> None:
    tap = reader()
    tap.saw(TEXT + STOP + DONE)
    answered = tap.answered(complete=True)
    assert answered.flags == (AnswerFlag.USAGE_ABSENT,)
    assert (answered.input_includes_cache, answered.output_includes_reasoning) == (None, None)
    assert reader().answered(complete=False).flags == ()


def test_error_words_are_short() -> None:
    tap = reader(Form.JSON, status=400)
    tap.saw(b'{"error":{"message":"%b"}}' % (b"x" * 9000))
    answered = tap.answered(complete=True)
    assert answered.error_words == "x" * 500
    assert answered.error_class is ErrorClass.INVALID_REQUEST


def test_a_dialect_that_needs_its_terminal_event_is_cut_without_it() -> None:
    events = (
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}\n\n'
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    )
    for end, result in (
        (b"", ExchangeResult.TRUNCATED),
        (b'data: {"type":"message_stop"}\n\n', ExchangeResult.COMPLETED),
    ):
        tap = ResponseReader(ANTHROPIC, status=200, form=Form.EVENTS, output_limit=None)
        tap.saw(events + end)
        assert tap.answered(complete=True).result is result
        assert tap.answered(complete=False).result is result


def test_a_whole_message_needs_no_terminal_event() -> None:
    tap = ResponseReader(ANTHROPIC, status=200, form=Form.JSON, output_limit=None)
    tap.saw(b'{"type":"message","stop_reason":"end_turn","content":[]}')
    assert tap.answered(complete=True).result is ExchangeResult.COMPLETED


def test_words_are_masked_before_they_are_shortened() -> None:
    key = "sk-CANARY-0123456789"
    tap = ResponseReader(
        READER,
        status=400,
        form=Form.JSON,
        output_limit=None,
        mask=lambda text: text.replace(key, "*" * len(key)),
    )
    tap.saw(
        b'{"model":"%b","error":{"message":"%b\\u0073%b"}}'
        % (key.encode(), b"x" * 490, key[1:].encode())
    )
    answered = tap.answered(complete=True)
    assert answered.error_words == "x" * 490 + "*" * 10
    assert answered.model_served == "*" * len(key)


STOPPED = b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n'


def gemini(*, status: int = 200, form: Form = Form.EVENTS) -> ResponseReader:
    return ResponseReader(GEMINI, status=status, form=form, output_limit=None)


def test_without_a_terminal_event_the_last_one_waits_for_what_comes_next() -> None:
    reader = gemini()
    assert reader.holds_from(STOPPED) is not None
    reader.passed(STOPPED, 0.0)
    assert (reader.terminal, reader.undecided) == (False, True)
    reader.saw(b'data: {"usageMetadata":{"promptTokenCount":3}}\n\n')
    assert (reader.terminal, reader.undecided) == (False, False)
    answered = reader.answered(complete=True)
    assert answered.result is ExchangeResult.COMPLETED
    assert answered.output_includes_reasoning is False


def test_the_wait_that_an_error_asks_for_is_read_from_its_body() -> None:
    kind = b'"@type":"type.googleapis.com/google.rpc.RetryInfo"'
    body = b'{"error":{"code":429,"details":[{%b,"retryDelay":"38.4s"}]}}' % kind
    reader = gemini(status=429, form=Form.JSON)
    assert reader.retry_after_ms is None
    reader.saw(body)
    reader.answered(complete=True)
    assert reader.retry_after_ms == 38_400


def test_a_marker_is_seen_in_bytes_that_nobody_asked_about_before() -> None:
    """While an event is held the relay does not ask where another may start."""
    stream = reader()
    stream.saw(b"data: {}\n\n")
    assert not stream.undecided
    stream.saw(b'data: {"err')
    assert not stream.undecided
    stream.saw(b'or"')
    assert stream.undecided
    stream.saw(b": null}\n\n")
    assert not stream.undecided
