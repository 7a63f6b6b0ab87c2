"""Anything at all to what reads strangers' bytes: splitter, JSON gate, tokens, redactor, heads.

Bounded in count, and judged by an independent reading of the same bytes wherever there is one.
"""

import asyncio
import contextlib
import hashlib
import itertools
import json
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.echoes import ESCAPED_LINE_ENDS, LINE_ENDS, base64_lines, shows
from fakes.refusals import constant_reply
from fakes.supervisor import ask
from fakes.upstream import Answer, Received, sends, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled
from security.broker.raw_client import (
    BODY,
    CONSTANTS,
    REQUEST_LINE,
    Reply,
    Target,
    assert_reframed,
    assert_refused,
)
from stanchion.broker.attempts.leases import LeaseError, Leases, make_token
from stanchion.broker.plane.http_gate import Accepted, Denial, read_head
from stanchion.broker.plane.json_gate import BodyError, read_value
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import Spellings
from stanchion.broker.plane.sse import SseEvent, SseOverflowError, SseSplitter, StrayLine
from stanchion.protocol.launch import Waits

UNAUTHORIZED = Reply(401, constant_reply("unauthorized"))


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The same bytes in pieces."""
    borders = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in itertools.pairwise(borders)]


_places = st.lists(st.integers(0, 400), max_size=8)


# The splitter of event streams.

_stream_bytes = st.lists(
    st.sampled_from(
        [b"data", b"data:", b"data: ", b"event: ", b"id: 1", b"retry", b":", b"\n", b"\r", b"\r\n",
         b"\n\n", b" ", b"x", b"[DONE]", b"{}", b"\xef\xbb\xbf", b"\x00", b"\xff", b"\xe2\x80\xa8"]
    ),
    max_size=40,
).map(b"".join)  # fmt: skip


def split(pieces: list[bytes]) -> list[SseEvent | StrayLine]:
    splitter = SseSplitter()
    found = [event for piece in pieces for event in splitter.feed(piece)]
    return found + list(splitter.close())


def read_by_the_standard(stream: bytes) -> list[tuple[bytes, bytes | None]]:
    """WHATWG HTML 9.2.6, over the whole stream at once, but for the event that has not ended."""
    lines = re.split(rb"\r\n|\n|\r", stream.removeprefix(b"\xef\xbb\xbf"))
    found: list[tuple[bytes, bytes | None]] = []
    data: list[bytes] = []
    name = None
    for line in [*lines, b""]:
        if line == b"":
            if data:
                found.append((b"\n".join(data), name))
            data, name = [], None
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return found


@settings(max_examples=400)
@given(_stream_bytes, _places)
@example(b"data: a\r", [1])
def test_the_splitter_sees_what_the_standard_says_however_it_is_cut(
    stream: bytes, places: list[int]
) -> None:
    found = split(cut(stream, places))
    events = [(event.data, event.name) for event in found if isinstance(event, SseEvent)]
    assert events == read_by_the_standard(stream)
    assert found == split([stream])


@given(st.binary(max_size=300), _places)
def test_the_splitter_takes_any_bytes(stream: bytes, places: list[int]) -> None:
    assert split(cut(stream, places)) == split([stream])


@given(st.binary(max_size=400), st.integers(1, 50))
def test_the_splitter_keeps_no_more_than_its_caps(stream: bytes, cap: int) -> None:
    splitter = SseSplitter(max_line_bytes=cap, max_event_bytes=cap)
    with contextlib.suppress(SseOverflowError):
        for byte in stream:
            list(splitter.feed(bytes([byte])))
            assert len(splitter.unfinished) <= 3 * cap + 2


# The JSON gate.


def strict_standard_library(text: bytes) -> object:
    """The same rules, by another parser."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def no(_: str) -> object:
        raise ValueError("constant")

    value = json.loads(text.decode("utf-8"), object_pairs_hook=unique, parse_constant=no)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")  # no lone half, no inf
    return value


_json_bytes = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"\\u0061"', b'"b"', b"1", b"-", b".5",
         b"e9", b"e999", b"0", b"true", b"null", b"NaN", b"\\", b"\\\\", b'\\"', b"\\ud83d",
         b"\\ude39", b" ", b"\n", b"\xc3\xa9", b"\xff", b"\x00", b"\xef\xbb\xbf"]
    ),
    max_size=14,
).map(b"".join)  # fmt: skip
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


def agree(text: bytes) -> None:
    try:
        expected = strict_standard_library(text)
    except (ValueError, RecursionError):
        with pytest.raises(BodyError):
            read_value(text)
        return
    try:
        found = read_value(text)
    except BodyError as error:
        assert "64 bits" in str(error)  # noqa: PT017 - the one thing only we refuse here
    else:
        assert found == expected


@settings(max_examples=500)
@given(_json_bytes)
@example(b'{"a\\\\":1,"\\u0061\\\\":2}')
@example(b'{"\\"":1,"\\":\\"":{"":1}}')
def test_the_gate_and_another_strict_parser_agree(text: bytes) -> None:
    agree(text)


@given(_values, st.integers(0, 60), st.sampled_from([b"", b'"', b",", b"}", b"0", b"\\", b"\xff"]))
def test_the_gate_and_another_strict_parser_agree_on_what_was_valid(
    value: object, place: int, change: bytes
) -> None:
    text = json.dumps(value, ensure_ascii=place % 2 == 0).encode()
    agree(text)
    agree(text[:place] + change + text[place + 1 :])


@given(st.integers(0, 3000), st.sampled_from([b"[", b'{"a":', b'[{"a":[']))
def test_any_depth_is_decided(depth: int, opening: bytes) -> None:
    with contextlib.suppress(BodyError):
        read_value(opening * depth)


# Attack 9: tokens.

_header_values = st.text(string.printable.replace("\r", "").replace("\n", ""), max_size=90)


@given(st.text(max_size=90))
def test_attack_9_any_text_is_no_lease(text: str) -> None:
    leases = Leases()
    assert leases.check(text, 0) is not None
    assert leases.redeem(text, "boot", b"x" * 32, 0) in set(LeaseError)


@settings(max_examples=150)
@given(_header_values)
@example("' OR 1=1 --")
@example("st1_" + "A" * 50)
@example(make_token(b"x" * 32))
def test_attack_9_any_text_in_the_header_is_answered_by_a_constant(
    target: Target, text: str
) -> None:
    head = REQUEST_LINE + b"\r\nx-stanchion-lease: " + text.encode() + b"\r\n\r\n"
    reply = target.send(head)
    assert reply in {UNAUTHORIZED, Reply(400, constant_reply("bad_request"))}


@settings(max_examples=100)
@given(st.integers(0, 53), st.sampled_from(string.ascii_letters + string.digits + "_- "))
def test_attack_9_a_lease_with_one_letter_changed_is_none(
    target: Target, place: int, letter: str
) -> None:
    lease = target.lease
    changed = lease[:place] + letter + lease[place + 1 :]
    for text in (changed, lease[:place], lease + letter, lease.upper(), lease.lower()):
        if text.strip() == lease:
            continue
        reply = target.send(REQUEST_LINE + b"\r\nx-stanchion-lease: " + text.encode() + b"\r\n\r\n")
        assert reply == UNAUTHORIZED


# Heads.

_head_bytes = st.lists(
    st.one_of(
        st.sampled_from(
            [REQUEST_LINE, b"GET / HTTP/1.1", b"\r\n", b"\r\n", b"\r\n\r\n", b"\n", b"\r", b": ",
             b"x-stanchion-lease", b"content-length: 5", b"transfer-encoding: chunked", b"@LEASE@",
             b"host: x", b" ", b"\t", b"\x00", b"\xff", b"HTTP/1.1", b"0\r\n\r\n", b"{}"]
        ),
        st.binary(max_size=6),
    ),
    max_size=12,
).map(b"".join)  # fmt: skip


@given(_head_bytes)
def test_any_head_is_decided(data: bytes) -> None:
    assert isinstance(read_head(data + b"\r\n\r\n"), (Accepted, Denial))


@settings(max_examples=150)
@given(_head_bytes, _places)
def test_any_bytes_are_answered_by_a_constant_and_reach_nobody(
    target: Target, data: bytes, places: list[int]
) -> None:
    sent = data.replace(b"@LEASE@", target.lease.encode())
    reply = target.send(*cut(sent, places), half_close=True)
    if reply.status != 200:  # a probe is answered here
        assert_refused(reply)
    for request in target.sink.taken():
        assert_reframed(request)
    assert target.sink.surplus == b""


# The redactor.

_keys = st.text(string.ascii_letters + string.digits + "-_+/=.", min_size=12, max_size=40).filter(
    lambda key: len(set(key)) > 8
)
_LINE_ENDS = sorted((LINE_ENDS | ESCAPED_LINE_ENDS).values())
_around = st.text(string.ascii_letters + string.digits + ' {}":,-_+/=.\\\n*', max_size=40)


def redact(key: str, pieces: list[bytes], *, events: bool) -> bytes:
    out = bytearray()
    scrubber = Scrubber(Spellings(key), lambda: hashlib.sha256(out), events=events)
    for piece in pieces:
        out += scrubber.feed(piece)
    return bytes(out + scrubber.close())


@settings(max_examples=400)
@given(_keys, st.lists(_around, min_size=1, max_size=4), _places, st.booleans())
def test_attack_36_the_redactor_lets_no_key_through_and_changes_nothing_else(
    key: str, around: list[str], places: list[int], events: bool
) -> None:
    body = key.join(around).encode()
    out = redact(key, cut(body, places), events=events)
    assert len(out) == len(body)
    assert key.encode() not in out
    inside = set()
    place = body.find(key.encode())
    while place >= 0:
        inside |= set(range(place, place + len(key)))
        place = body.find(key.encode(), place + 1)
    for at, (old, new) in enumerate(zip(body, out, strict=True)):
        assert new == old or new == ord("*")
        if new != old and not events:
            assert at in inside


@settings(max_examples=200)
@given(_keys, st.integers(0, 80), st.integers(60, 80), st.sampled_from(_LINE_ENDS), _places)
def test_attack_36_the_redactor_lets_no_base64_in_lines_through(
    key: str, column: int, width: int, end: str, places: list[int]
) -> None:
    spell = base64_lines(end, column % 3, urlsafe=bool(column % 2), width=width, column=column)
    body = b'data: {"text":"' + spell(key) + b'"}\n\n'
    out = redact(key, cut(body, places), events=bool(places))
    assert len(out) == len(body)
    assert not shows(out, key)
    assert out.count(b"\n") == body.count(b"\n")


@given(_keys, _around, _places)
def test_attack_36_a_body_without_the_key_passes_unchanged(
    key: str, text: str, places: list[int]
) -> None:
    body = text.encode()
    if not any(key[at : at + 8] in text for at in range(len(key) - 7)):
        assert redact(key, cut(body, places), events=False) == body


# Answers of a provider.


@dataclass
class Stage:
    """A provider that answers as it is told, and an attempt before it."""

    runner: asyncio.Runner
    run: Enrolment
    answers: list[Answer]
    asked: int = 0

    def ask(self, data: bytes, places: list[int]) -> tuple[int, bytes]:
        self.answers[0] = sends(*cut(data, places))
        self.asked += 1
        body = BODY[:-1] + b',"seed":%d}' % self.asked  # no call that failed is made again
        reply = self.runner.run(ask(self.run.directory, body, lease=self.run.lease))
        return reply.status, reply.body


@pytest.fixture(scope="module")
def stage(broker: LiveBroker) -> Iterator[Stage]:
    answers: list[Answer] = [sends(b"")]

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        await answers[0](request, writer)

    with asyncio.Runner() as runner:
        provider = upstream(answer)
        port = runner.run(provider.__aenter__()).port
        attempt = enrolled(broker, port, waits=Waits(header_wait_s=0))
        run = runner.run(attempt.__aenter__())
        runner.run(run.supervisor.close())
        yield Stage(runner, run, answers)
        runner.run(attempt.__aexit__(None, None, None))
        runner.run(provider.__aexit__(None, None, None))


_answer_bytes = st.lists(
    st.one_of(
        st.sampled_from(
            [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.0 200 OK\r\n",
             b"content-type: text/event-stream\r\n", b"content-type: application/json\r\n",
             b"transfer-encoding: chunked\r\n", b"content-length: 9\r\n", b"\r\n", b"\r\n\r\n",
             b"connection: close\r\n", b"connection: keep-alive\r\n", b"x-request-id: a\r\n",
             b"data: {}\n\n", b"data: [DONE]\n\n", b"9\r\n", b"0\r\n\r\n", b'{"choices"', b":[]}",
             b'data: {"error":', b"\n", b"\x00", b"\xff", b"content-encoding: gzip\r\n"]
        ),
        st.binary(max_size=5),
    ),
    max_size=10,
).map(b"".join)  # fmt: skip


@settings(max_examples=100)
@given(_answer_bytes, _places)
def test_whatever_a_provider_says_the_harness_gets_an_answer_or_an_end(
    stage: Stage, data: bytes, places: list[int]
) -> None:
    status, body = stage.ask(b"HTTP/1.1 200 OK\r\n" + data if places else data, places)
    assert status in {0, 200, 502, 503}
    if status > 200:
        assert body in CONSTANTS
