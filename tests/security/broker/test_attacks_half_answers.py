"""Attacks 39 and 40: half an answer as a whole one, and made-up usage."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.upstream import STREAM_HEAD, chunk, response, say, sends, stream
from functional.broker.live import LiveBroker
from security.broker.hostile_provider import DONE, JSON_HEAD, STOP, TEXT, WHOLE, exchanged
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import ExchangeResult

# Attack 39: half an answer as a whole one.

SAYS_NO_END: dict[str, tuple[bytes, ...]] = {
    "stream without its terminal event": (STREAM_HEAD + chunk(TEXT), b"0\r\n\r\n"),
    "stream cut between events": (STREAM_HEAD + chunk(TEXT),),
    "stream cut within an event": (STREAM_HEAD + chunk(TEXT[:-9]),),
    "stream cut within a chunk": (STREAM_HEAD + b"ff\r\n" + TEXT,),
    "stream with nothing in it": (STREAM_HEAD, b"0\r\n\r\n"),
    "stream of comments": (STREAM_HEAD + chunk(b": ping\n\n" * 3), b"0\r\n\r\n"),
    "body shorter than its length": (JSON_HEAD + b"content-length: 99\r\n\r\n" + WHOLE,),
    "body cut within JSON": (JSON_HEAD + b"content-length: 20\r\n\r\n" + WHOLE[:20],),
    "body of nothing": (JSON_HEAD + b"content-length: 0\r\n\r\n",),
    "body that is a page": (JSON_HEAD + b"content-length: 13\r\n\r\n<html></html>",),
    "chunked body without its last chunk": (
        JSON_HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunk(WHOLE),
    ),
    "chunk longer than its size": (
        JSON_HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n" + WHOLE + b"\r\n0\r\n\r\n",
    ),
    "head with a folded line": (JSON_HEAD + b"x: a\r\n b\r\ncontent-length: 65\r\n\r\n" + WHOLE,),
    "head with bare line feeds": (b"HTTP/1.1 200 OK\ncontent-length: 65\n\n" + WHOLE,),
    "two lengths": (JSON_HEAD + b"content-length: 65\r\ncontent-length: 3\r\n\r\n" + WHOLE,),
    "length and chunks": (
        JSON_HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n" + chunk(WHOLE),
    ),
    "chunked twice": (
        JSON_HEAD + b"transfer-encoding: chunked, chunked\r\n\r\n" + chunk(WHOLE) + b"0\r\n\r\n",
    ),
    "another coding": (JSON_HEAD + b"transfer-encoding: gzip\r\n\r\n" + gzip.compress(WHOLE),),
}


@pytest.mark.parametrize("name", SAYS_NO_END)
async def test_attack_39_half_an_answer_is_no_whole_one(broker: LiveBroker, name: str) -> None:
    _, end = await exchanged(broker, sends(*SAYS_NO_END[name]))
    assert end.answered.result is not ExchangeResult.COMPLETED
    assert not end.answered.has_content
    assert end.answered.usage is None


async def test_attack_39_a_whole_one_is(broker: LiveBroker) -> None:
    """The same check on answers that lack nothing."""
    for answer in (response(200, WHOLE), stream(TEXT, STOP, DONE)):
        _, end = await exchanged(broker, answer)
        assert end.answered.result is ExchangeResult.COMPLETED
        assert end.answered.has_content


# Attack 40: made-up usage.

USAGES = {
    Dialect.OPENAI_CHAT: '{{"choices":[],"usage":{{"prompt_tokens":{0},"completion_tokens":{0}}}}}',
    Dialect.OPENAI_RESPONSES: '{{"type":"response.completed","response":{{"status":"completed",'
    '"usage":{{"input_tokens":{0},"output_tokens":{0}}}}}}}',
    Dialect.ANTHROPIC_MESSAGES: '{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},'
    '"usage":{{"input_tokens":{0},"output_tokens":{0}}}}}',
    Dialect.GEMINI: '{{"candidates":[{{"finishReason":"STOP"}}],"usageMetadata":{{'
    '"promptTokenCount":{0},"candidatesTokenCount":{0},"thoughtsTokenCount":0}}}}',
}
MADE_UP = [-1, -(10**30), 10**30, 2**53, 1.5, 1e300, "5", "many", True, None, [5], {"a": 5}]


def told_usage(dialect: Dialect, figure: object) -> tuple[int | None, int | None]:
    reader = ResponseReader(READERS[dialect], status=200, form=Form.EVENTS, output_limit=None)
    reader.saw(say(USAGES[dialect].format(json.dumps(figure))))
    usage = reader.answered(complete=True).usage
    return (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)


@pytest.mark.parametrize("dialect", USAGES)
@pytest.mark.parametrize("figure", MADE_UP, ids=str)
def test_attack_40_a_figure_that_is_none_is_unknown(dialect: Dialect, figure: object) -> None:
    assert told_usage(dialect, figure) == (None, None)


@pytest.mark.parametrize("dialect", USAGES)
def test_attack_40_a_figure_is_known(dialect: Dialect) -> None:
    assert told_usage(dialect, 7) == (7, 7)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.sampled_from(sorted(USAGES)), _json)
def test_attack_40_any_figure_is_a_count_or_unknown(dialect: Dialect, figure: object) -> None:
    for count in told_usage(dialect, figure):
        assert count is None or (count == figure and 0 <= count < 2**53)


async def test_attack_40_made_up_usage_pays_for_nothing(broker: LiveBroker) -> None:
    usage = say('{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-900}}')
    _, end = await exchanged(broker, stream(TEXT, STOP, usage, DONE))
    assert end.answered.usage is None or end.answered.usage.output_tokens is None
    assert end.answered.usage_why
