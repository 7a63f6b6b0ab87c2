"""Attacks 35 to 43: a provider, or who stands in for it, that is out for the key or the agent."""

import asyncio
import base64
import functools
import gzip
import itertools
import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.launches import KEY, order, spec
from fakes.raw_sink import ANSWER_BODY, raw_sink
from fakes.supervisor import Response, Supervisor, ask
from fakes.upstream import (
    STREAM_HEAD,
    Answer,
    Received,
    chunk,
    response,
    say,
    sends,
    stream,
    upstream,
)
from functional.broker.live import LiveBroker, enrolled, live_broker
from functional.broker.plane.in_process import in_process
from security.broker.raw_client import BODY
from stanchion.broker.config import read_config
from stanchion.broker.plane.connecting import connect, is_link_local
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.replies import constant_reply
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.upstream import Target
from stanchion.protocol.control import Enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, Deadline, ErrorClass, ExchangeResult
from stanchion.protocol.launch import ModelRef, Waits
from stanchion.protocol.receipt import ExchangeEnd, RunOpen
from stanchion.protocol.refusal import RefusedError

NO_WAITS = Waits(header_wait_s=0, max_wait_s=0)
STREAMED = BODY[:-1] + b',"stream":true}'
TEXT = say('{"choices":[{"delta":{"content":"hi"}}]}')
STOP = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
DONE = say("[DONE]")
STARS = "*" * len(KEY)


async def answered(broker: LiveBroker, run: str) -> ExchangeEnd:
    while True:
        for record in await broker.records(run):
            if isinstance(record, ExchangeEnd):
                return record


async def exchanged(broker: LiveBroker, answer: Answer) -> tuple[Response, ExchangeEnd]:
    """One request to a provider that answers so."""
    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reply = await ask(run.directory, STREAMED, lease=run.lease)
        return reply, await answered(broker, run.id)


# Attack 35: redirects.


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308, 399])
async def test_attack_35_no_redirect_is_followed(broker: LiveBroker, status: int) -> None:
    with raw_sink() as other:
        place = f"http://127.0.0.1:{other.port}/v1/chat/completions"
        moved = response(
            status, b"{}", headers=[("location", place), ("refresh", f"0;url={place}")]
        )
        reply, end = await exchanged(broker, moved)
        assert (reply.status, reply.body) == (502, constant_reply("upstream_redirect"))
        assert "location" not in reply.headers
        assert end.answered.error_class is ErrorClass.UPSTREAM_PROTOCOL
        assert (other.requests, other.surplus) == ([], b"")


# Attack 36: the key comes back.


def spelled() -> dict[str, str]:
    return {
        "plain": KEY,
        "escaped": "".join(f"\\u{ord(letter):04x}" for letter in KEY),
        "hex": KEY.encode().hex(),
        "base64": base64.b64encode(KEY.encode()).decode(),
        "base64 behind one": base64.b64encode(b"x" + KEY.encode()).decode(),
        "base64 behind two": base64.b64encode(b"xy" + KEY.encode()).decode(),
        "url": "".join(f"%{ord(letter):02X}" for letter in KEY),
    }


@pytest.mark.parametrize("how", spelled())
@pytest.mark.parametrize("where", ["error", "whole", "stream", "stray line"])
async def test_attack_36_the_key_comes_back_in_no_body(
    broker: LiveBroker, how: str, where: str
) -> None:
    text = spelled()[how]
    event = f'{{"choices":[{{"delta":{{"content":"it is {text}"}}}}]}}'
    answers = {
        "error": response(400, f'{{"error":{{"message":"bad key {text}"}}}}'.encode()),
        "whole": response(200, f'{{"choices":[{{"message":{{"content":"{text}"}}}}]}}'.encode()),
        "stream": stream(say(event), STOP, DONE),
        "stray line": stream(f'{{"error":{{"message":"{text}"}}}}\n\n'.encode(), DONE),
    }
    reply, end = await exchanged(broker, answers[where])
    seen = reply.body.decode()
    assert text not in seen
    assert KEY not in json.dumps(msgspec.to_builtins(end))
    assert text not in json.dumps(msgspec.to_builtins(end))
    for start in range(len(text) - 16):
        assert text[start : start + 16] not in seen
    assert end.secret_scrubbed


@pytest.mark.parametrize("name", ["x-request-id", "openai-version", "www-authenticate", "x-echo"])
async def test_attack_36_nor_in_a_header(broker: LiveBroker, name: str) -> None:
    reply, end = await exchanged(broker, response(200, ANSWER_BODY, headers=[(name, f"a{KEY}b")]))
    assert KEY not in str(reply.headers)
    assert KEY not in str(end)


@pytest.mark.parametrize("size", [1, 2, 7, len(KEY) - 1])
async def test_attack_36_however_the_stream_is_cut(broker: LiveBroker, size: int) -> None:
    event = say(f'{{"choices":[{{"delta":{{"content":"it is {KEY}."}}}}]}}')
    pieces = [event[at : at + size] for at in range(0, len(event), size)]
    reply, end = await exchanged(broker, stream(*pieces, STOP, DONE))
    assert reply.body == event.replace(KEY.encode(), STARS.encode()) + STOP + DONE
    assert end.secret_scrubbed


async def test_attack_36_nor_in_a_trailer(broker: LiveBroker) -> None:
    head = STREAM_HEAD + chunk(TEXT) + chunk(STOP + DONE)
    reply, _ = await exchanged(broker, sends(head, f"0\r\nx-echo: {KEY}\r\n\r\n".encode()))
    assert KEY.encode() not in reply.body
    assert (reply.whole, KEY in str(reply.headers)) == (True, False)


# Attack 37: what else a head can carry.


async def test_attack_37_of_headers_only_listed_and_plain_ones_come_through(
    broker: LiveBroker,
) -> None:
    headers = [
        ("set-cookie", "a=b"),
        ("location", "http://evil.example"),
        ("content-security-policy", "x"),
        ("alt-svc", 'h3="evil.example:443"'),
        ("upgrade", "h2c"),
        ("x-request-id", "caf\u00e9"),
        ("x-ratelimit-limit-requests", "5"),
        ("trailer", "x-echo"),
        ("strict-transport-security", "max-age=1"),
    ]
    reply, _ = await exchanged(broker, response(200, ANSWER_BODY, headers=headers))
    assert set(reply.headers) == {
        *("content-type", "content-length", "connection", "x-ratelimit-limit-requests"),
    }


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n" * 5000,
        b"HTTP/1.1 103 Early Hints\r\nlink: <http://evil.example>\r\n\r\n" * 2000,
        b"HTTP/1.1 099 Low\r\n\r\n",
        b"HTTP/1.1 2000 High\r\n\r\n",
        b"HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"ICY 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nx-request-id: \x1b]52;c;aGk=\x07\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nretry-after: 1\x00\r\ncontent-length: 2\r\n\r\n{}",
    ],
    ids=["101", "bare 101", "many 102", "many 103", "099", "2000", "HTTP/2.0", "ICY", "ESC", "NUL"],
)
async def test_attack_37_a_head_that_is_no_answer_is_a_constant_502(
    broker: LiveBroker, answer: bytes
) -> None:
    reply, end = await exchanged(broker, sends(answer))
    assert reply.status == 502
    assert reply.body in {constant_reply("upstream_protocol"), constant_reply("upstream_redirect")}
    assert end.answered.result is ExchangeResult.UNREADABLE


async def test_attack_37_the_reason_is_ours(broker: LiveBroker) -> None:
    raw = b"HTTP/1.1 200 \x1b]0;evil\x07\r\ncontent-length: %d\r\n\r\n" % len(ANSWER_BODY)
    async with (
        upstream(sends(raw + ANSWER_BODY)) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
        writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY)
        answer = await reader.read()
        writer.close()
    assert answer.startswith((b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 502 Bad Gateway\r\n"))
    assert b"evil" not in answer


# Attack 38: bombs, drips, and answers without an end.


@functools.cache
def a_bomb() -> bytes:
    return gzip.compress(b"\0" * (128 << 20))


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip", "br", "x-unknown"])
async def test_attack_38_a_packed_bomb_is_not_unpacked_into_the_brokers_memory(
    broker: LiveBroker, coding: str
) -> None:
    bomb = a_bomb()
    before = psutil.Process(broker.process.pid).memory_info().rss
    reply, _ = await exchanged(broker, response(200, bomb, headers=[("content-encoding", coding)]))
    assert reply.status == 502
    assert reply.body.startswith(b'{"error":{"message":"stanchion: ')
    assert psutil.Process(broker.process.pid).memory_info().rss - before < 64 << 20


LONG = 24 << 20
"""More than a line may have."""


async def test_attack_38_a_line_without_an_end_does_not_stay_in_memory(broker: LiveBroker) -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: "))
        for _ in range(LONG >> 20):
            writer.write(chunk(b"x" * (1 << 20)))
            await writer.drain()
        writer.write(chunk(b"\n\n") + chunk(STOP + DONE) + b"0\r\n\r\n")

    before = psutil.Process(broker.process.pid).memory_info().rss
    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
        writer.write(f"{head}content-length: {len(STREAMED)}\r\n\r\n".encode() + STREAMED)
        reply = await reader.read()
        writer.close()
        end = await answered(broker, run.id)
    assert reply.count(b"x") >= LONG  # forwarded all the same
    assert reply.endswith(b"0\r\n\r\n")
    assert end.answered.result is ExchangeResult.UNREADABLE
    assert psutil.Process(broker.process.pid).memory_info().rss - before < 96 << 20


def test_attack_38_an_event_full_of_markers_costs_its_length() -> None:
    """Looking through all of it at each piece would be a hundred billion bytes here."""
    reader = ResponseReader(
        READERS[Dialect.OPENAI_CHAT], status=200, form=Form.EVENTS, output_limit=None
    )
    reader.saw(b"data: ")
    for _ in range(16_000):
        piece = b'"error"' + b"x" * 1000
        assert reader.holds_from(piece) is not None
        reader.saw(piece)
        assert reader.undecided
    reader.saw(b"\n\n")
    assert not reader.undecided


async def test_attack_38_comments_for_ever_are_no_life() -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(TEXT))
        for number in itertools.count():
            writer.write(chunk(b": ping %d\n\n" % number))
            await writer.drain()
            await asyncio.sleep(0.001)

    async with (
        upstream(answer) as provider,
        in_process(provider.port, limits=Limits(idle_s=0.2), waits=NO_WAITS) as stage,
    ):
        reader, writer = await stage.request(STREAMED)
        assert TEXT in await reader.read()
        writer.close()
        end = await stage.answered()
        assert (end.result, end.deadline) == (ExchangeResult.TRUNCATED, Deadline.IDLE)


async def test_attack_38_an_error_without_an_end_is_bounded(broker: LiveBroker) -> None:
    reply, end = await exchanged(broker, response(400, b'{"error":"' + b"x" * (1 << 20) + b'"}'))
    assert (reply.status, reply.body) == (502, constant_reply("upstream_error_too_large"))
    assert len(end.answered.error_words or "") <= 500


# Attack 39: half an answer as a whole one.

WHOLE = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
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


# Attack 41: an answer behind the answer.


@pytest.mark.parametrize(
    "behind",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b"
        % (len(WHOLE), WHOLE.replace(b"hi", b"EV")),
        b"HTTP/1.1 200 OK\r\n",
        b"garbage",
        b"\r\n",
    ],
    ids=["whole", "head", "garbage", "empty line"],
)
async def test_attack_41_what_follows_an_answer_belongs_to_nobody(
    broker: LiveBroker, behind: bytes
) -> None:
    first = JSON_HEAD + b"content-length: %d\r\nconnection: keep-alive\r\n\r\n" % len(WHOLE) + WHOLE
    second = response(200, WHOLE.replace(b"hi", b"me"))
    async with (
        upstream(sends(first + behind), second) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
        enrolled(broker, provider.port, waits=NO_WAITS) as other,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease)).body == WHOLE
        for attempt in (other, run):
            reply = await ask(attempt.directory, BODY, lease=attempt.lease)
            assert reply.body == WHOLE.replace(b"hi", b"me")


# Attack 42: names that resolve to where credentials are.

METADATA = ["169.254.169.254", "169.254.170.2", "fe80::1", "fe80::a9fe:a9fe%1"]


@pytest.mark.parametrize("address", METADATA)
def test_attack_42_such_addresses_are_known(address: str) -> None:
    assert is_link_local(address)
    assert not is_link_local("127.0.0.1")


@pytest.mark.parametrize("others", [[], ["127.0.0.1"]], ids=["alone", "behind another"])
async def test_attack_42_a_name_that_leads_there_is_not_spoken_to(
    monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    """The resolver is the outside; so is the way to an address, where nobody may be met."""
    loop = asyncio.get_running_loop()
    asked: list[str] = []
    dialled: list[object] = []

    async def resolve(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in [*others, "169.254.169.254"]
        ]

    async def dial(*arguments: object, **_: object) -> None:
        dialled.append(arguments)

    monkeypatch.setattr(loop, "getaddrinfo", resolve)
    monkeypatch.setattr(loop, "create_connection", dial)
    target = Target(
        host="api.example.com", port=443, authority="api.example.com", path="", tls=None, key=None
    )
    with pytest.raises(OSError, match="link-local"):
        await connect(target, connect_s=20)
    assert (asked, dialled) == (["api.example.com"], [])


async def test_attack_42_what_was_checked_is_what_is_dialled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second look-up would be the moment for another answer."""
    loop = asyncio.get_running_loop()
    answers = iter(["127.0.0.1", "169.254.169.254"])

    async def resolve(_: str, port: int, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    async with upstream(response(200, ANSWER_BODY)) as provider:
        monkeypatch.setattr(loop, "getaddrinfo", resolve)
        target = Target(
            host="api.example.com",
            port=provider.port,
            authority="api.example.com",
            path="",
            tls=None,
            key=None,
        )
        connected = await connect(target, connect_s=20)
        assert connected.peer == "127.0.0.1"
        connected.close()
    assert next(answers) == "169.254.169.254"


# Attack 43: keys in the open.

OPEN = """
version = 1
[profiles.p.accounts.a]
api = "openai_chat"
credential = "none"
base_url = "{}"
"""


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "http://10.0.0.5:8000/v1",
        "http://127.0.0.1.example.com/v1",
        "http://localhost.example.com/v1",
        "http://0.0.0.0:8000/v1",
        "http://169.254.169.254/v1",
        "HTTP://api.example.com/v1",
        "ftp://api.example.com/v1",
        "api.example.com/v1",
    ],
)
def test_attack_43_plain_http_beyond_this_machine_is_refused(url: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read_config(OPEN.format(url).encode())
    assert refused.value.refusal.id in {"plain_http", "config_invalid"}


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        yield Path(folder)


async def test_attack_43_where_it_is_allowed_every_receipt_says_so(root: Path) -> None:
    async with upstream(response(200, ANSWER_BODY)) as provider:
        config = root / "stanchion.toml"
        config.write_text(OPEN.format(f"http://127.0.0.1:{provider.port}/v1"))
        with live_broker(root, "--config", str(config)) as broker:
            model = ModelRef(account="a", id="fx-coder-1")
            launch = msgspec.structs.replace(
                order(), spec=spec(profile="p", model=model, sandbox=_kept()), rehearsal=None
            )
            async with broker.client() as client:
                opened = await client.open_run(launch)
                ticket = await client.enrol(opened.id)
            supervisor = Supervisor(Path(opened.directory))
            enrolment = await supervisor.enrol(ticket.token, opened.launch_sha256)
            assert isinstance(enrolment, Enrolled)
            reply = await ask(supervisor.directory, BODY, lease=supervisor.lease)
            records = await broker.records(opened.id)
            await supervisor.close()
    assert reply.status == 200
    assert isinstance(records[0], RunOpen)
    assert records[0].launch.account.tls is False
    end = next(r for r in records if isinstance(r, ExchangeEnd))
    assert _tls(end.answered) == (None, None)


def _kept() -> object:
    return spec().sandbox


def _tls(answered: Answered) -> tuple[str | None, str | None]:
    return answered.tls_server_name, answered.tls_certificate_sha256
