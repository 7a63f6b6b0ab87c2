import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.scrub import Scrubber

KEY = "sk-CANARY-0123456789abcdefghij"
MASK = b"*" * len(KEY)
BODY = b'data: {"text":"the key sk-CANARY is %b, again %b"}\n\n' % (KEY.encode(), KEY.encode())
CLEAN = BODY.replace(KEY.encode(), MASK)


def scrubbed(*pieces: bytes, key: str = KEY) -> bytes:
    scrubber = Scrubber(key)
    return b"".join(map(scrubber.feed, pieces)) + scrubber.close()


@pytest.mark.parametrize("cut", range(len(BODY) + 1))
def test_a_key_is_masked_wherever_the_bytes_are_cut(cut: int) -> None:
    assert scrubbed(BODY[:cut], BODY[cut:]) == CLEAN


@pytest.mark.parametrize("size", range(1, len(KEY) + 2))
def test_a_key_in_many_pieces_is_masked(size: int) -> None:
    assert scrubbed(*(BODY[i : i + size] for i in range(0, len(BODY), size))) == CLEAN


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_nothing_of_a_key_that_is_under_way_leaves(cut: int) -> None:
    scrubber = Scrubber(KEY)
    start, rest = KEY[:cut].encode(), KEY[cut:].encode()
    assert scrubber.feed(b"a " + start) == b"a "
    assert not scrubber.hit
    assert scrubber.feed(rest + b" b") == MASK + b" b"
    assert scrubber.hit


def test_clean_bytes_leave_at_once_and_are_the_same_object() -> None:
    scrubber = Scrubber(KEY)
    data = b'data: {"text":"nothing of it, sk-CANARX, sk"}\n\n'
    assert scrubber.feed(data) is data
    assert not scrubber.hit


def test_only_an_end_that_may_become_the_key_is_held() -> None:
    scrubber = Scrubber(KEY)
    assert scrubber.feed(b"ssk-s") == b"ssk-"
    assert scrubber.feed(b"k-C") == b""
    assert scrubber.feed(b"x") == b"sk-Cx"
    assert scrubber.feed(b"sk-") == b""
    assert scrubber.close() == b"sk-"
    assert scrubber.close() == b""
    assert not scrubber.hit


def test_both_digests_are_of_their_own_bytes() -> None:
    scrubber = Scrubber(KEY)
    out = scrubber.feed(BODY[:40]) + scrubber.feed(BODY[40:]) + scrubber.close()
    assert scrubber.received_sha256 == hashlib.sha256(BODY).hexdigest()
    assert len(out) == len(BODY)


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
            assert key.encode() not in out
            assert "*" * len(key) in out.decode()


@given(
    st.text("ab", min_size=1, max_size=6),
    st.lists(st.text("abc", max_size=9).map(str.encode), max_size=8),
)
def test_any_cut_gives_what_the_whole_gives(key: str, pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert scrubbed(*pieces, key=key) == whole.replace(key.encode(), b"*" * len(key))
