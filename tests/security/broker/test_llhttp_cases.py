"""The publicly known cases of llhttp: what it refuses is refused, what it takes is framed anew."""

import httptools
import pytest

from fakes.raw_sink import ANSWER_BODY
from security.broker.framing_cases import Case
from security.broker.llhttp_cases import FRAMED, NARROWER, REFUSED
from security.broker.raw_client import BODY, Target, assert_refused
from security.broker.test_smuggling import bytes_of, ids


class Judge:
    """Whether llhttp takes the bytes as one whole first request."""

    def __init__(self) -> None:
        self.whole = False

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
