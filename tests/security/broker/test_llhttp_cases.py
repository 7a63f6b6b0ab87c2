"""The publicly known cases of llhttp: what it refuses is refused, what it takes is framed anew."""

import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.raw_sink import ANSWER_BODY
from security.broker.framing_cases import Case
from security.broker.llhttp_cases import FRAMED, NARROWER, REFUSED
from security.broker.raw_client import BODY, REQUEST_LINE, Target, assert_refused
from security.broker.test_smuggling import bytes_of, ids
from stanchion.broker.plane.http_gate import Denial, read_head


class Judge:
    """Whether llhttp takes the bytes as one whole first request."""

    def __init__(self) -> None:
        self.whole = False
        self.body = b""

    def on_body(self, data: bytes) -> None:
        if not self.whole:
            self.body += data

    def on_message_complete(self) -> None:
        self.whole = True

    def takes(self, data: bytes) -> bool:
        parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return True
        except httptools.HttpParserError:
            return self.whole
        return self.whole


@pytest.mark.parametrize("case", REFUSED, ids=ids(REFUSED))
def test_what_llhttp_refuses_is_refused(target: Target, case: Case) -> None:
    data = bytes_of(case, target)
    assert not Judge().takes(data)
    assert_refused(target.send(data, half_close=case.waits))
    target.assert_nothing_came_but()


@pytest.mark.parametrize("case", FRAMED, ids=ids(FRAMED))
def test_what_llhttp_takes_is_framed_anew(target: Target, case: Case) -> None:
    data = bytes_of(case, target)
    assert Judge().takes(data)
    reply = target.send(data)
    assert (reply.status, reply.body) == (200, ANSWER_BODY)
    target.assert_nothing_came_but(BODY)


@pytest.mark.parametrize("case", NARROWER, ids=ids(NARROWER))
def test_what_only_llhttp_takes_is_refused_whole(target: Target, case: Case) -> None:
    data = bytes_of(case, target)
    assert Judge().takes(data)
    assert_refused(target.send(data, half_close=case.waits))
    target.assert_nothing_came_but()


_lines = st.sampled_from([REQUEST_LINE, b"GET / HTTP/1.1", b"HEAD / HTTP/1.1"])
_names = st.sampled_from(
    [b"content-length", b"Content-Length", b"transfer-encoding", b"connection", b"upgrade", b"te",
     b"expect", b"trailer", b"proxy-connection", b"keep-alive", b"host", b"content-encoding"]
)  # fmt: skip
_values = st.sampled_from(
    [b"5", b"0", b"05", b"0000005", b"5 ", b"5\t", b"\t5", b"5, 5", b"+5", b"0x5", b"5_0", b"",
     b"close", b"keep-alive", b"upgrade", b"close, upgrade", b"chunked", b"identity", b"h2c",
     b"100-continue", b"a\tb", b"websocket"]
)  # fmt: skip
_around = st.sampled_from([b":", b": ", b":\t", b":  "])
_fields = st.lists(st.tuples(_names, _around, _values).map(b"".join), max_size=4)


@settings(max_examples=500)
@given(_lines, _fields)
def test_a_body_whose_length_the_gate_takes_is_the_one_that_llhttp_reads(
    line: bytes, fields: list[bytes]
) -> None:
    """Such a body is cut off by its length, without a parser."""
    lease = b"x-stanchion-lease: st1_x"
    head = b"\r\n".join([line, lease, *fields]) + b"\r\n\r\n"
    accepted = read_head(head)
    if isinstance(accepted, Denial) or accepted.length is None:
        return
    body = b"0123456789"[: accepted.length]
    judge = Judge()
    assert judge.takes(head + body)
    assert judge.body == body
