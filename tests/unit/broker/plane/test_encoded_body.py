import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.encodings import ENCODINGS, Encode, brotli_encoded, raw_deflate
from stanchion.broker.plane.encoded_body import (
    MAX_DECODED_BYTES,
    MAX_ENCODED_BYTES,
    EncodingError,
    decoded,
    encoding_of,
)

BODY = b'{"choices":[{"message":{"content":"it is there, it is there, it is there"}}]}\n'


@pytest.mark.parametrize(
    ("headers", "encoding"),
    [
        ([], None),
        ([("content-type", "a")], None),
        ([("Content-Encoding", "identity")], None),
        ([("content-encoding", "")], None),
        ([("Content-Encoding", " GZip ")], "gzip"),
        ([("content-encoding", "identity, br")], "br"),
        ([("content-encoding", "gzip, gzip")], "gzip, gzip"),
        ([("content-encoding", "gzip"), ("content-encoding", "br")], "gzip, br"),
    ],
)
def test_what_the_headers_say(headers: list[tuple[str, str]], encoding: str | None) -> None:
    assert encoding_of(headers) == encoding


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_known_encoding_is_decoded(name: str) -> None:
    encoding, encode = ENCODINGS[name]
    assert decoded(encoding, encode(BODY)) == BODY
    assert decoded(encoding, encode(b"")) == decoded(encoding, b"") == b""
    large = bytes(range(256)) * 20_000
    assert decoded(encoding, encode(large)) == large


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_body_that_is_not_exactly_one_is_refused(name: str) -> None:
    encoding, encode = ENCODINGS[name]
    whole = encode(BODY)
    for broken in (whole[:-1], whole[: len(whole) // 2], whole + b"x", b"plain text", whole[1:]):
        with pytest.raises(EncodingError) as refused:
            decoded(encoding, broken)
        assert "there" not in str(refused.value)


@pytest.mark.parametrize("encoding", ["zstd", "compress", "gzip, gzip", "dcb", "\x1b[31m" * 40])
def test_an_unknown_encoding_is_refused_by_a_short_printable_name(encoding: str) -> None:
    with pytest.raises(EncodingError, match="unknown here") as refused:
        decoded(encoding, gzip.compress(BODY))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", raw_deflate),
        ("deflate", zlib.compress),
        ("br", brotli_encoded),
    ],
)
def test_a_bomb_is_refused_before_it_is_large(encoding: str, encode: Encode) -> None:
    bomb = encode(bytes(MAX_DECODED_BYTES + 1))
    assert len(bomb) < MAX_ENCODED_BYTES
    with pytest.raises(EncodingError, match="when decoded"):
        decoded(encoding, bomb)


def test_many_members_share_one_bound() -> None:
    member = gzip.compress(bytes(MAX_DECODED_BYTES // 4))
    assert len(decoded("gzip", member * 4)) == MAX_DECODED_BYTES
    with pytest.raises(EncodingError, match="when decoded"):
        decoded("gzip", member * 5)


def test_a_body_beyond_the_bound_is_not_looked_into() -> None:
    with pytest.raises(EncodingError, match="more than 8388608 bytes"):
        decoded("gzip", bytes(MAX_ENCODED_BYTES + 1))


@given(st.sampled_from(["gzip", "deflate", "br"]), st.binary(max_size=60))
def test_any_bytes_are_decoded_or_refused(encoding: str, body: bytes) -> None:
    with contextlib.suppress(EncodingError):
        assert isinstance(decoded(encoding, body), bytes)
