"""A key in pieces, each in the string of an event of its own."""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stanchion.broker.plane.delta_scrub import MAX_CONTEXT_BYTES, MAX_HELD_BYTES
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import FRAGMENT, LEAST, Spellings

KEY = "sk-CANARY-0123456789abcdefghij"
SPELLED = Spellings(KEY)
Shape = Callable[[str], bytes]


def chat(text: str, name: str = "content") -> bytes:
    event = {"id": "c-1s", "choices": [{"index": 0, "delta": {name: text}, "finish_reason": None}]}
    return b"data: %b\n\n" % json.dumps(event).encode()


def messages(text: str) -> bytes:
    event = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }
    data = json.dumps(event, separators=(",", ":")).encode()
    return b"event: content_block_delta\ndata: %b\n\n" % data


def responses(text: str) -> bytes:
    event = {"type": "response.output_text.delta", "delta": text, "sequence_number": 4}
    return b"event: response.output_text.delta\r\ndata: %b\r\n\r\n" % json.dumps(event).encode()


def gemini(text: str) -> bytes:
    event = {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}}]}
    return b"data: %b\r\n\r\n" % json.dumps(event).encode()


def escaped(text: str) -> bytes:
    return b'data: {"delta":"%b"}\n\n' % "".join(f"\\u{ord(c):04x}" for c in text).encode()


SHAPES: dict[str, Shape] = {
    "chat": chat,
    "messages": messages,
    "responses": responses,
    "gemini": gemini,
    "escaped": escaped,
}


class Line:
    """Pieces in, and what came out."""

    def __init__(self, spelled: Spellings = SPELLED) -> None:
        self.out: list[bytes] = []
        self.scrubber = Scrubber(spelled, self._passed, events=True)

    def _passed(self) -> "hashlib._Hash":
        return hashlib.sha256(b"".join(self.out))

    def feed(self, *pieces: bytes) -> bytes:
        for piece in pieces:
            self.out.append(self.scrubber.feed(piece))
        return self.out[-1]

    def close(self) -> bytes:
        self.out.append(self.scrubber.close())
        return b"".join(self.out)


def spoken(stream: bytes) -> str:
    """What a harness joins together."""
    plain = re.sub(rb"\\u00(..)", lambda match: bytes([int(match[1], 16)]), stream)
    return b"".join(re.findall(rb'"(?:content|text|delta)": ?"([^"]*)"', plain)).decode()


def scrubbed(events: Sequence[bytes], *, size: int | None = None, key: str = KEY) -> bytes:
    """Fed event by event, or in pieces of one size; only the key was changed."""
    stream = b"".join(events)
    pieces = events if size is None else cut(stream, size)
    line = Line(SPELLED if key == KEY else Spellings(key))
    line.feed(b"", *pieces)
    out = line.close()
    assert all(new in (old, 42) for old, new in zip(stream, out, strict=True))
    assert (line.scrubber.received_sha256 or hashlib.sha256(out).hexdigest()) == (
        hashlib.sha256(stream).hexdigest()
    )
    assert line.scrubber.hit is (out != stream)
    return out


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("at", range(1, len(KEY)))
def test_a_key_in_two_deltas_is_masked_but_for_the_characters_that_were_none_yet(
    shape: str, at: int
) -> None:
    event = SHAPES[shape]
    events = [event("it is "), event(f"so {KEY[:at]}"), event(f"{KEY[at:]}!"), event(" ok")]
    for size in (None, 1, 50):
        words = spoken(scrubbed(events, size=size))
        match = re.fullmatch(r"it is so (?P<left>[^*]*)[*]+! ok", words)
        assert match is not None
        assert KEY.startswith(match["left"])
        assert len(match["left"]) < (LEAST if at < LEAST else 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 11])
def test_a_key_in_many_deltas_shows_no_more_than_its_first_characters(
    shape: str, size: int
) -> None:
    pieces = [KEY[at : at + size] for at in range(0, len(KEY), size)]
    out = scrubbed([SHAPES[shape](piece) for piece in ("is", " ", *pieces, ".")])
    words = spoken(out)
    assert words.startswith("is ")
    shown = words.removeprefix("is ").rstrip(".").partition("*")[0]
    assert KEY.startswith(shown)
    assert len(shown) < LEAST
    assert not any(KEY[at : at + 4] in words for at in range(LEAST - 1, len(KEY) - 3))


def test_events_wait_only_from_the_eighth_character_on() -> None:
    line = Line()
    for text in ("a", "s", "k-", "CAN"):
        assert line.feed(chat(text)) == chat(text)
    waiting = chat("AR-is not it")
    assert line.feed(waiting) == waiting
    for text in ("sk-", "CANA"):
        assert line.feed(chat(text)) == chat(text)
    held = chat("R")
    assert line.feed(held) == held[: held.index(b'"R"') + 1]
    assert line.feed(chat("X")) == held[held.index(b'"R"') + 1 :] + chat("X")
    assert not line.scrubber.hit


@pytest.mark.parametrize("between", [b": ping\n\n", b'event: ping\ndata: {"type":"ping"}\n\n'])
def test_one_other_event_may_stand_between(between: bytes) -> None:
    out = scrubbed([chat(KEY[:10]), between, chat(KEY[10:])])
    assert spoken(out) == "*" * len(KEY)
    assert between in out


def test_the_end_of_the_stream_lets_go_what_did_not_become_a_key() -> None:
    for length in range(LEAST, len(KEY)):
        out = scrubbed([chat("a"), chat(KEY[:length])])
        assert spoken(out) == "a" + (KEY[:length] if length < FRAGMENT else "*" * length)


def test_two_events_without_its_field_end_the_wait() -> None:
    line = Line()
    start, finish, done = chat(KEY[:9]), chat("", "refusal"), b"data: [DONE]\n\n"
    line.feed(start, finish)
    assert b"".join(line.out) != start + finish
    line.feed(done)
    assert b"".join(line.out) == start + finish + done


def test_pieces_of_two_fields_are_two_texts() -> None:
    events = [chat(KEY[:9]), chat("think", "reasoning"), chat(KEY[9:], "reasoning"), chat("x")]
    assert scrubbed(events) == b"".join(events)
    mixed = [chat(KEY[:9]), chat("hm", "reasoning"), chat(KEY[9:])]
    assert spoken(scrubbed(mixed)) == "*" * len(KEY)


def test_what_waits_is_bounded() -> None:
    line = Line()
    line.feed(chat(KEY[:9]))
    big = b'data: {"content":"", "other":"%b"}\n\n' % (b"x" * 4000)
    line.feed(*([big] * 5))
    assert len(b"".join(line.out)) >= 5 * len(big) - MAX_HELD_BYTES
    assert spoken(line.close()).startswith(KEY[:9])


def test_an_endless_string_after_a_whole_key_does_not_wait() -> None:
    line = Line()
    line.feed(b'data: {"content":"%b"}\n\n' % KEY[:12].encode())
    line.feed(b'data: {"content":"%bx' % KEY[12:].encode())
    assert line.scrubber.hit
    assert spoken(b"".join(line.out) + b'"') == "*" * len(KEY) + "x"
    line.feed(b"x" * 100)
    assert line.out[-1] == b"x" * 100


def test_what_left_long_ago_is_not_read_again() -> None:
    """The bound that the module names: characters so far apart are not put together."""
    wide = b'data: {"content":"%b","pad":"%b"}\n\n'
    events = [wide % (KEY[at : at + 1].encode(), b"x" * MAX_CONTEXT_BYTES) for at in range(LEAST)]
    assert scrubbed([*events, chat(KEY[LEAST:])]) == b"".join([*events, chat(KEY[LEAST:])])


def test_a_letter_that_every_event_has_gives_way_to_another() -> None:
    key = "QXW-abcdefgh"
    spelled = Spellings(key)
    line = Line(spelled)
    constant = b'data: {"id":"QXWabc-","content":"%b"}\n\n'
    for text in ("one", "two", "three") * 40:
        assert line.feed(constant % text.encode()) == constant % text.encode()
    line.feed(constant % key[:5].encode(), constant % key[5:].encode(), constant % b"end")
    assert key not in spoken(line.close())
    assert line.scrubber.hit


texts = st.lists(st.sampled_from(["a", "s", "sk", "sk-", KEY[:9], KEY[3:12], KEY[9:], " ", ""]))


@settings(max_examples=80, deadline=None)
@given(texts, st.sampled_from(sorted(SHAPES)), st.integers(1, 90))
def test_any_pieces_in_any_cut(pieces: list[str], shape: str, size: int) -> None:
    events = [SHAPES[shape](piece) for piece in pieces]
    for out in (scrubbed(events), scrubbed(events, size=size)):
        assert KEY not in spoken(out)
        if KEY not in spoken(b"".join(events)):
            assert out == b"".join(events) or _ends_in_a_fragment(spoken(b"".join(events)))


def _ends_in_a_fragment(words: str) -> bool:
    return any(words.endswith(KEY[:length]) for length in range(FRAGMENT, len(KEY)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, len(KEY) - 1), max_size=9, unique=True).map(sorted))
def test_any_partition_of_the_key(places: list[int]) -> None:
    pieces = [KEY[a:b] for a, b in itertools.pairwise([0, *places, len(KEY)])]
    words = spoken(scrubbed([chat(piece) for piece in pieces]))
    assert len(words) == len(KEY)
    assert len(words.rstrip("*")) < LEAST
