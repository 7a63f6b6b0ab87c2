import base64
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.echoes import LINE_ENDS, RAW_LINES, SPELLINGS, base64_lines, shows
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import FRAGMENT, Spellings

KEY = "sk-CANARY-0123456789abcdefghij"
SPELLED = Spellings(KEY)
ALL = SPELLINGS | RAW_LINES
MASK = b"*" * len(KEY)
BODY = b'data: {"text":"the key sk-CANARY is %b, again %b"}\n\n' % (KEY.encode(), KEY.encode())
CLEAN = BODY.replace(KEY.encode(), MASK)


class Line:
    """Pieces in, and what came out, hashed as its reader does."""

    def __init__(self, spelled: Spellings = SPELLED, *, events: bool = False) -> None:
        self.out: list[bytes] = []
        self.scrubber = Scrubber(spelled, self.passed, events=events)

    def passed(self) -> "hashlib._Hash":
        return hashlib.sha256(b"".join(self.out))

    def feed(self, *pieces: bytes) -> bytes:
        for piece in pieces:
            self.out.append(self.scrubber.feed(piece))
        return self.out[-1]

    def close(self) -> bytes:
        self.out.append(self.scrubber.close())
        return b"".join(self.out)


def scrubbed(*pieces: bytes, key: str = KEY) -> bytes:
    line = Line(Spellings(key))
    line.feed(b"", *pieces)
    return line.close()


@pytest.mark.parametrize("cut", range(len(BODY) + 1))
def test_a_key_is_masked_wherever_the_bytes_are_cut(cut: int) -> None:
    line = Line()
    line.feed(BODY[:cut], BODY[cut:])
    assert line.close() == CLEAN
    assert line.scrubber.received_sha256 == hashlib.sha256(BODY).hexdigest()


@pytest.mark.parametrize("name", ALL)
def test_every_spelling_is_masked_wherever_the_bytes_are_cut(name: str) -> None:
    body = b'{"error":{"message":"bad ' + ALL[name](KEY) + b'."}}\n'
    for cut in range(len(body) + 1):
        line = Line()
        line.feed(body[:cut], body[cut:])
        out = line.close()
        assert len(out) == len(body)
        assert not shows(out, KEY)
        assert all(new in (old, 42) for old, new in zip(body, out, strict=True))
        assert line.scrubber.received_sha256 == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_spelling_in_small_pieces_is_masked(name: str, size: int) -> None:
    body = b'{"error":{"message":"bad ' + ALL[name](KEY) + b'."}}\n'
    line = Line()
    line.feed(*(body[at : at + size] for at in range(0, len(body), size)))
    assert not shows(line.close(), KEY)


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_nothing_of_a_key_that_is_under_way_leaves(cut: int) -> None:
    line = Line()
    start, rest = KEY[:cut].encode(), KEY[cut:].encode()
    assert line.feed(b"a " + start) == b"a "
    assert not line.scrubber.hit
    assert line.feed(rest + b" b") == MASK + b" b"
    assert line.scrubber.hit


@pytest.mark.parametrize("events", [False, True])
def test_clean_bytes_leave_at_once(*, events: bool) -> None:
    line = Line(events=events)
    ordinary = b'data: {"text":"in a stream of words"}\n\n'
    assert line.feed(ordinary) is ordinary
    for data in (
        b'data: {"text":"nothing of it, sk-CANARX, sk"}\n\n',
        b"\\u0073\\u006b 100 % sure &amp; so on\n",
        b": ping\n\n",
    ):
        assert line.feed(data) == data
    assert line.close() == b"".join(line.out)
    assert line.scrubber.received_sha256 is None
    assert not line.scrubber.hit


def test_only_an_end_that_may_become_the_key_is_held() -> None:
    line = Line()
    assert line.feed(b"ssk-s") == b"ssk-"
    assert line.feed(b"k-C") == b""
    assert line.feed(b"x") == b"sk-Cx"
    assert line.feed(b"sk-") == b""
    assert line.close() == b"ssk-sk-Cxsk-"
    assert line.scrubber.close() == b""
    assert not line.scrubber.hit


def test_a_body_that_ends_within_the_key_shows_little_of_it() -> None:
    for length in range(1, len(KEY)):
        line = Line()
        line.feed(b"a " + KEY[:length].encode())
        shown = KEY[:length].encode() if length < FRAGMENT else b"*" * length
        assert line.close() == b"a " + shown
        assert line.scrubber.hit is (length >= FRAGMENT)


def test_the_first_letter_that_is_looked_for_gives_way_to_one_that_the_stream_has_not() -> None:
    key = "QXaQXaQXaQXa"
    event = b'data: {"id":"QX","text":"bc"}\n\n'
    line = Line(Spellings(key))
    line.feed(*([event] * 5))
    line.feed(b'data: {"text":"' + key.encode() + b'"}\n\n')
    assert key.encode() not in line.close()
    assert line.scrubber.hit


@pytest.mark.parametrize(
    "key", ['quo"te\\and/slash-1', "a/b/c/d/e/f", "\\\\\\\\\\\\\\\\", "aaaaaaaab"]
)
def test_a_key_that_json_spells_otherwise_is_masked_in_each_spelling(key: str) -> None:
    spelled = json.dumps({"message": f"bad key {key}!"}).encode()
    slashed = spelled.replace(b"/", b"\\/")
    for body in (spelled, slashed, f"plain {key} text".encode()):
        for cut in range(len(body) + 1):
            out = scrubbed(body[:cut], body[cut:], key=key)
            assert len(out) == len(body)
            assert not shows(out, key)
            assert "*" * len(key) in out.decode()


@settings(max_examples=60, deadline=None)
@given(
    st.text("ab", min_size=8, max_size=9),
    st.lists(st.text("abc", max_size=9).map(str.encode), max_size=8),
)
def test_any_cut_gives_what_the_whole_gives(key: str, pieces: list[bytes]) -> None:
    whole = b"".join(pieces) + b"\n"
    assert scrubbed(*pieces, b"\n", key=key) == whole.replace(key.encode(), b"*" * len(key))


def test_a_key_in_two_encodings_beside_each_other() -> None:
    body = KEY.encode() + base64.b64encode(KEY.encode()) + KEY.encode().hex().encode() + b"\n"
    assert set(scrubbed(body)) <= set(b"*=\n")


@pytest.mark.parametrize("end", LINE_ENDS.values(), ids=LINE_ENDS)
@pytest.mark.parametrize("events", [False, True])
def test_the_ends_of_lines_within_base64_stay_and_nothing_waits_for_them(
    end: str, *, events: bool
) -> None:
    body = b"data: " + base64_lines(end)(KEY) + b"\n\n"
    for cut in range(len(body) + 1):
        line = Line(events=events)
        line.feed(body[:cut], body[cut:])
        assert line.feed(b"x\n") == b"x\n"
        out = line.close()
        assert not shows(out, KEY)
        kept = [(at, byte) for at, byte in enumerate(body) if byte in b"\r\n"]
        assert [(at, out[at]) for at, _ in kept] == kept


@pytest.mark.parametrize("last", [b"}\n\n", b"}\r\n\r\n", b"}\n", b'"}\r\n', b" k-\n"])
def test_a_line_that_ends_in_no_beginning_of_it_leaves_at_once(last: bytes) -> None:
    line = Line()
    assert line.feed(b'data: {"a":1' + last) == b'data: {"a":1' + last


def test_a_line_of_base64_that_may_go_on_waits_for_the_next_one() -> None:
    encoded = base64.b64encode(KEY.encode())
    line = Line()
    assert line.feed(b"a " + encoded[:9] + b"\r") == b"a "
    assert line.feed(b"\n") == b""
    assert line.feed(encoded[9:13]) == b""
    assert line.feed(b"!") == encoded[:9] + b"\r\n" + encoded[9:13] + b"!"
    assert not line.scrubber.hit
    line.feed(encoded[:9] + b"\n" + encoded[9:13])
    assert line.close().endswith(b"!*********\n****")


def test_it_is_at_rest_until_a_key_may_have_begun_or_came() -> None:
    for events in (True, False):
        line = Line(events=events)
        assert line.scrubber.at_rest
        line.feed(b"data: hello\n\n")
        assert line.scrubber.at_rest
        line.feed(b"data: sk-")
        assert not line.scrubber.at_rest
        line.feed(b"x\n\n")
        assert line.scrubber.at_rest
        line.feed(KEY.encode(), b"\n\n")
        assert not line.scrubber.at_rest


def test_bytes_that_left_after_a_glance_are_where_a_key_may_have_begun() -> None:
    def event(text: str) -> bytes:
        return b'data: {"content":"%b"}\n\n' % text.encode()

    line = Line(events=True)
    line.out.append(event(KEY[:5]))
    line.scrubber.left(line.out[-1])
    assert line.scrubber.at_rest
    line.feed(event(KEY[5:12]))
    assert not line.scrubber.at_rest
    line.feed(event(KEY[12:]))
    assert line.close() == event(KEY[:5]) + event("*" * 7) + event("*" * (len(KEY) - 12))
    body = Line(events=False)
    body.scrubber.left(b"x")
    assert body.scrubber.at_rest
