import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.protocol.codec import CodecError, LineSplitter, decode, digest, encode, encode_line
from stanchion.protocol.control import Ack, Enrol


def test_canonical_json_has_sorted_keys_and_no_space() -> None:
    line = encode_line(Enrol(protocol=1, token="t", boot="b", spec_sha256="s"))
    assert line == b'{"boot":"b","protocol":1,"spec_sha256":"s","token":"t","type":"enrol"}\n'


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


@pytest.mark.parametrize(
    "bad", [b"", b"{", b"[]", b'{"seq":"x","type":"ack"}', b"\xff", b"[" * 5000]
)
def test_bytes_that_are_not_the_message_are_refused(bad: bytes) -> None:
    with pytest.raises(CodecError, match="not a Ack"):
        decode(bad, Ack)


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_come_out_whole_however_they_were_cut(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter, out, at = LineSplitter(), [], 0
    while at < len(stream):
        step = data.draw(st.integers(1, 7))
        out += splitter.feed(stream[at : at + step])
        at += step
    assert out == lines


def test_a_line_without_an_end_is_bounded() -> None:
    splitter = LineSplitter(max_line_bytes=10)
    assert list(splitter.feed(b"1234567890")) == []
    with pytest.raises(CodecError, match="more than 10 bytes"):
        list(splitter.feed(b"1"))


def test_encode_is_json_that_anybody_can_read() -> None:
    assert json.loads(encode(Ack(seq=4))) == {"seq": 4, "type": "ack"}
