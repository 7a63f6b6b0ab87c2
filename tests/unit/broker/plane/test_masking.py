import base64
import hashlib

import pytest

from stanchion.broker.plane.masking import Masking
from stanchion.broker.secrets import Secret
from stanchion.protocol.exchange import Answered, ExchangeResult

KEY = "sk-CANARY-0123456789"
STARS = "*" * len(KEY)


def answered(body: bytes) -> Answered:
    digest = hashlib.sha256(body).hexdigest()
    return Answered(result=ExchangeResult.COMPLETED, body_sha256=digest, body_bytes=len(body))


def test_words_and_headers_lose_the_key_and_it_is_remembered() -> None:
    masking = Masking(Secret(KEY))
    assert masking.text("no key") == "no key"
    assert not masking.hit
    assert masking.headers([("x-a", "b"), ("x-c", f"r-{KEY}")]) == [
        ("x-a", "b"),
        ("x-c", f"r-{STARS}"),
    ]
    assert masking.hit


def test_a_header_loses_it_in_its_name_and_in_any_spelling() -> None:
    masking = Masking(Secret(KEY))
    encoded = base64.b64encode(KEY.encode()).decode()
    assert masking.headers([(f"x-ratelimit-{KEY.lower()}", f"v {encoded}")]) == [
        (f"x-ratelimit-{STARS}", f"v {'*' * (len(encoded) - 1)}=")
    ]
    assert masking.hit


def test_a_body_with_the_key_has_two_digests() -> None:
    masking = Masking(Secret(KEY))
    body = f"bad {KEY}!".encode()
    shown = masking.whole(body)
    assert shown == f"bad {STARS}!".encode()
    end = masking.digested(answered(shown))
    assert end.body_sha256 == hashlib.sha256(body).hexdigest()
    assert end.sent_sha256 == hashlib.sha256(shown).hexdigest()
    assert masking.hit


def test_a_clean_body_has_one_digest() -> None:
    masking = Masking(Secret(KEY))
    body = b"sk-CANARY and no more sk-"
    assert masking.whole(body) == body
    assert masking.digested(answered(body)) == answered(body)
    assert not masking.hit


def test_the_next_sending_begins_with_a_clean_body_but_the_key_stays_remembered() -> None:
    masking = Masking(Secret(KEY))
    masking.whole(KEY.encode())
    assert masking.whole(b"ok") == b"ok"
    assert masking.digested(answered(b"ok")).sent_sha256 is None
    assert masking.hit


def test_a_body_that_comes_in_pieces_has_two_digests() -> None:
    masking = Masking(Secret(KEY))
    body, out = f"bad {KEY}!".encode(), b""
    scrub = masking.new_body(lambda: hashlib.sha256(out), events=False)
    assert scrub is not None
    for piece in (body[:9], body[9:]):
        out += scrub.feed(piece)
    out += scrub.close()
    assert out == f"bad {STARS}!".encode()
    end = masking.digested(answered(out))
    assert (end.body_sha256, end.sent_sha256) == (
        hashlib.sha256(body).hexdigest(),
        hashlib.sha256(out).hexdigest(),
    )
    assert masking.hit


@pytest.mark.parametrize(
    ("plain", "encoded", "clean"),
    [
        (b"nothing of it", b"..", b"nothing of it"),
        (f"a {KEY} b".encode(), b"..", f"a {STARS} b".encode()),
        (b"x" * 65_530 + KEY.encode(), b"..", b"x" * 65_530 + STARS.encode()),
        (b"nothing of it", KEY.encode(), b"nothing of it"),
    ],
    ids=["clean", "in the body", "over two steps", "in the encoded form"],
)
def test_a_decoded_body_that_is_not_handed_on(plain: bytes, encoded: bytes, clean: bytes) -> None:
    masking = Masking(Secret(KEY))
    found = plain != clean or encoded == KEY.encode()
    assert masking.apart(plain, encoded, events=False) == (clean, found)
    assert masking.hit is found


def test_a_decoded_stream_is_read_over_its_events_too() -> None:
    masking = Masking(Secret(KEY))
    events = [b'data: {"text":"%b"}\n\n' % part for part in (KEY[:9].encode(), KEY[9:].encode())]
    clean, found = masking.apart(b"".join(events), b"", events=True)
    assert (clean.count(b"*"), found) == (len(KEY), True)
    assert Masking(None).apart(b"a", b"b", events=True) == (b"a", False)


def test_without_a_key_and_with_one_that_is_too_short_nothing_is_looked_for() -> None:
    for key in (None, Secret("abc")):
        masking = Masking(key)
        assert masking.new_body(hashlib.sha256, events=True) is None
        assert masking.headers([(KEY, KEY)]) == [(KEY, KEY)]
        assert masking.whole(b"abc abc") == b"abc abc"
        assert masking.text("abc") == "abc"
        assert not masking.hit
