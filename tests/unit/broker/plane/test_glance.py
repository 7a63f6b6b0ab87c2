"""What a glance lets pass is what every reader of the stream would let pass, and forget."""

import hashlib
import json
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.echoes import SPELLINGS
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.glance import glance
from stanchion.broker.plane.lookout import Lookout
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import Spellings
from stanchion.protocol.dialects import Dialect

KEY = "sk-proj-7Qm2ZtXv9LdKc4Rw8HsYfG1u"
SPELLED = Spellings(KEY)
CHAT = READERS[Dialect.OPENAI_CHAT]
START, END = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
PARTS = (
    b"sk-", b"sk-proj-", b"proj", b"j-7Q", b"7Qm2", b'"', b"\\u00", b"\\u006a", b"\\u006b", b"%73",
    b"\\n", b'\\"', b"\\",
    b"data: ", b"\n", b"\n\n", b"\r\n", b"\n\r\n", b": ping", b"[DONE]", b'"error"', b'"err',
    b"Q9ZWU", b"c2st", b"736b2d", b"caf\xc3\xa9", b"\xc3", b'{"content":"', b'"}', b"text ",
)  # fmt: skip
PIECES = st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join)


def test_an_event_without_anything_to_look_for_passes() -> None:
    for spelled in (SPELLED, None):
        for event in (START + b"hi" + END, b": ping\n\n", b"data: {}\r\n\r\n"):
            assert glance(spelled, CHAT.lookout).passes(event)


@pytest.mark.parametrize("piece", [START, START + b'hi"}}]}\n', b"data: {}\r\n", b"\n"])
def test_what_may_go_on_in_the_next_piece_does_not(piece: bytes) -> None:
    for spelled in (SPELLED, None):
        assert not glance(spelled, CHAT.lookout).passes(piece)


@pytest.mark.parametrize("dialect", Dialect)
def test_no_marker_passes(dialect: Dialect) -> None:
    for marker in READERS[dialect].markers:
        for spelled in (SPELLED, None):
            assert not glance(spelled, READERS[dialect].lookout).passes(b"data: %b\n\n" % marker)


@pytest.mark.parametrize("name", SPELLINGS)
def test_no_spelling_of_the_key_passes_and_none_is_plain(name: str) -> None:
    spelled = SPELLINGS[name](KEY)
    look = glance(SPELLED, CHAT.lookout)
    assert not look.passes(START + b"it is " + spelled + END)
    assert not look.is_plain(b"it is " + spelled)
    assert not look.is_plain(spelled)


@pytest.mark.parametrize("count", range(8, len(KEY)))
def test_no_beginning_of_it_passes_that_tells_it_from_others(count: int) -> None:
    """It may go on in the text of the next event."""
    look, begun = glance(SPELLED, CHAT.lookout), KEY[:count].encode()
    assert not look.passes(START + b"it is " + begun + END)
    assert not look.is_plain(b"it is " + begun)


@given(pieces=st.lists(st.tuples(PIECES, st.sampled_from([b"", b"\n\n", b"\r\n\r\n"])), max_size=5))
def test_what_passes_would_have_passed_every_reader_and_left_nothing_under_way(
    pieces: list[tuple[bytes, bytes]],
) -> None:
    reader = ResponseReader(CHAT, status=200, form=Form.EVENTS, output_limit=None)
    scrubber = Scrubber(SPELLED, hashlib.sha256, events=True)
    look = glance(SPELLED, CHAT.lookout)
    for start, end in pieces:
        calm = scrubber.at_rest and reader.at_rest
        passes = look.passes(start + end)
        out = scrubber.feed(start + end)
        place = reader.holds_from(out)
        reader.passed(out, 0.0)
        if calm and passes:
            assert (out, place) == (start + end, None)
            assert scrubber.at_rest
            assert reader.at_rest


@given(text=st.lists(st.sampled_from(PARTS), max_size=4).map(b"".join))
def test_a_plain_text_is_one_string_and_passes_in_its_frame(text: bytes) -> None:
    look = glance(SPELLED, Lookout((b'"never"',)))
    if look.is_plain(text):
        assert look.passes(START + text + END)
        assert isinstance(json.loads(b'"%b"' % text), str)
    if glance(None, CHAT.lookout).is_plain(text):
        assert isinstance(json.loads(b'"%b"' % text), str)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"hi",
        "caf\u00e9 \U0001f600".encode(),
        b"12:09 W U Z Q",
        b"736b2d",
        b"[DONE]",
        b"\\n\\n\\tpass",
        b'say \\"so\\"',
        b"\\n" * 3,
    ],
)
def test_most_texts_are_plain(text: bytes) -> None:
    assert glance(SPELLED, CHAT.lookout).is_plain(text)
    assert glance(None, CHAT.lookout).is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        b'a"',
        b"a\\",
        b"\\\\n",
        b'\\\\"',
        b"\\u0061",
        b"\\x",
        b"a\n",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
    ],
)
def test_what_a_string_may_not_hold_as_it_is_is_not(text: bytes) -> None:
    assert not glance(SPELLED, CHAT.lookout).is_plain(text)
    assert not glance(None, CHAT.lookout).is_plain(text)


def test_with_a_quote_in_the_key_no_text_is() -> None:
    """It might begin before the text, or go on behind it."""
    assert not glance(Spellings('sk-a"bcdefghijklmnop'), CHAT.lookout).is_plain(b"hi")


def test_one_serves_all_streams_of_a_key_and_a_dialect() -> None:
    assert glance(SPELLED, CHAT.lookout) is glance(Spellings(KEY), CHAT.lookout)
    assert glance(SPELLED, CHAT.lookout) is not glance(None, CHAT.lookout)
    assert glance(None, CHAT.lookout) is glance(None, CHAT.lookout)


def test_it_goes_with_its_key() -> None:
    spelled = Spellings("sk-CANARY-of-one-day")
    gone = weakref.ref(spelled)
    glance(spelled, CHAT.lookout)
    del spelled
    assert gone() is None
