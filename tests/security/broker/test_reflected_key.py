"""Attack 36: a provider says the key back, in every spelling and in every place that goes on.

Through the real broker over real sockets. Nothing of it may come back to the sandbox, and nothing
may stand in any file that the broker wrote: state, receipts, bundle, log, attempt directory.
"""

import asyncio
import itertools
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.echoes import RAW_LINES, SPELLINGS, shows
from fakes.encodings import ENCODINGS
from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import Response, ask
from fakes.upstream import Answer, Received, chunk, response, say, sends, stream, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.receipt import ExchangeEnd, Record

BODY = json.dumps({"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max"}).encode()
MESSAGE = json.dumps({"model": MODEL, "max_tokens": LIMIT, "output_config": {"effort": "max"}})
END = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]")
SEVEN = ("plain", "base64 at 0", "base64 at 1", "base64 at 2", "json, every letter",
         "url, every letter", "hex")  # fmt: skip
"""Those that the acceptance names; the others are tried uncut."""
IN_LINES = ("base64 at 0 in lines, json LF", "base64url at 1 in lines, json CRLF",
            "base64 at 2 in lines, LF", "base64url at 2 in lines, CRLF")  # fmt: skip
ALL = SPELLINGS | RAW_LINES


@pytest.fixture(scope="module")
def broker() -> Iterator[LiveBroker]:
    """One for the module; when it has ended, nothing that it left may show the key."""
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        with live_broker(Path(folder)) as broker:
            yield broker
        assert showing(Path(folder)) == []


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def showing(root: Path) -> list[str]:
    return [str(path) for path in files(root) if shows(path.read_bytes(), KEY)]


def delta(text: bytes) -> bytes:
    return b'data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % text


def error(text: bytes) -> bytes:
    """No word of it that would trip the account and end the attempt."""
    return b'{"error":{"message":"bad value %b.","type":"invalid_request_error"}}' % text


def whole(text: bytes) -> bytes:
    choice = b'{"message":{"content":"it is %b!"},"finish_reason":"%b"}' % (text, text)
    return b'{"id":"%b","model":"%b","choices":[%b]}' % (text, text, choice)


PLACES: dict[str, Callable[[bytes], Answer]] = {
    "error body": lambda echo: response(400, error(echo)),
    "error page": lambda echo: response(422, b"<p>" + echo + b"</p>", content_type="text/html"),
    "error in a 200": lambda echo: stream(b"data: " + error(echo) + b"\n\n", b"data: [DONE]\n\n"),
    "whole body": lambda echo: response(200, whole(echo)),
    "text body": lambda echo: response(200, b"it is " + echo, content_type="text/plain"),
    "stream": lambda echo: stream(delta(echo), END),
    "words on record": lambda echo: stream(
        b'data: {"model":"%b","choices":[{"delta":{"content":"a"},"finish_reason":"%b"}]}\n\n'
        % (echo, echo),
        b"data: [DONE]\n\n",
    ),
    "stray line": lambda echo: stream(echo + b"\n\n", b": " + echo + b"\n\n", END),
}


@dataclass
class Echo:
    """An attempt whose provider answers what the test says next."""

    broker: LiveBroker
    run: Enrolment
    answers: list[Answer]

    async def ask(self, *answers: Answer) -> list[Response]:
        replies = []
        for answer in answers:
            self.answers[:] = [answer]
            replies.append(await ask(self.run.directory, BODY, lease=self.run.lease))
        return replies

    async def records(self) -> tuple[Record, ...]:
        return await self.broker.records(self.run.id)


@asynccontextmanager
async def echoing(broker: LiveBroker, **changes: object) -> AsyncIterator[Echo]:
    async with upstream() as provider, enrolled(broker, provider.port, **changes) as run:
        yield Echo(broker, run, provider.answers)
        async with broker.client() as client:
            seen = await client.bundle(run.id)
            view = await client.run(run.id)
            page = await client.events(run.id)
        for shown in (seen, str(view).encode(), str(page).encode()):
            assert not shows(shown, KEY)


def clean(reply: Response) -> bool:
    """Neither head nor body of it shows the key."""
    head = "\n".join(f"{name}: {value}" for name, value in reply.headers.items())
    return not shows(reply.body, KEY) and not shows(head.encode("latin-1"), KEY)


@pytest.mark.parametrize("name", ALL)
async def test_in_every_place_it_is_masked_and_on_record_as_scrubbed(
    broker: LiveBroker, name: str
) -> None:
    echo = ALL[name](KEY)
    async with echoing(broker) as attempt:
        replies = await attempt.ask(*(place(echo) for place in PLACES.values()))
        ends = [record for record in await attempt.records() if isinstance(record, ExchangeEnd)]
    assert [place for place, reply in zip(PLACES, replies, strict=True) if not clean(reply)] == []
    assert [place for place, end in zip(PLACES, ends, strict=True) if not end.secret_scrubbed] == []


@pytest.mark.parametrize("name", SPELLINGS)
async def test_in_headers_it_is_masked(broker: LiveBroker, name: str) -> None:
    value = SPELLINGS[name](KEY).decode()
    headers = [("x-request-id", value), ("openai-version", f"v {value}"), ("retry-after", value)]
    headers += [("x-ratelimit-reset-tokens", value), ("x-debug-authorization", value)]
    async with echoing(broker) as attempt:
        replies = await attempt.ask(
            response(200, whole(b"no"), headers=headers),
            response(400, error(b"no"), headers=headers),
            sends(_head(headers), chunk(delta(b"no")), chunk(END), b"0\r\n\r\n"),
        )
        ends = [record for record in await attempt.records() if isinstance(record, ExchangeEnd)]
    assert all(map(clean, replies))
    assert all(end.secret_scrubbed for end in ends)


def _head(headers: Sequence[tuple[str, str]]) -> bytes:
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", "transfer-encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def test_in_names_reason_trailers_and_interim_responses_it_does_not_come_back(
    broker: LiveBroker,
) -> None:
    interim = f"HTTP/1.1 103 {KEY}\r\nlink: {KEY}\r\n\r\n".encode()
    head = (
        f"HTTP/1.1 200 {KEY}\r\ncontent-type: text/event-stream; x={KEY}\r\n"
        f"x-ratelimit-{KEY}: 1\r\ntransfer-encoding: chunked\r\ntrailer: {KEY}\r\n\r\n"
    ).encode()
    trailers = f"0;x={KEY}\r\nx-trailer: {KEY}\r\nx-ratelimit-b: {KEY}\r\n\r\n".encode()
    async with echoing(broker) as attempt:
        (reply,) = await attempt.ask(
            sends(interim, head, chunk(delta(b"hi")), chunk(END), trailers)
        )
    assert clean(reply)
    assert KEY.lower() not in str(reply.headers)
    assert reply.body == delta(b"hi") + END


async def test_a_redirect_with_it_is_refused(broker: LiveBroker) -> None:
    async with echoing(broker) as attempt:
        (reply,) = await attempt.ask(
            response(307, error(KEY.encode()), headers=[("location", f"http://h/?key={KEY}")])
        )
    assert (reply.status, clean(reply)) == (502, True)


def _cut(event: bytes, at: int) -> Answer:
    """Two pieces, the second only once the first has left the provider's socket."""

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(_head([]) + chunk(event[:at]))
        await writer.drain()
        await asyncio.sleep(0)
        writer.write(chunk(event[at:]) + chunk(END) + b"0\r\n\r\n")

    return answer


@pytest.mark.parametrize("name", SEVEN + IN_LINES)
async def test_a_stream_cut_at_every_offset(broker: LiveBroker, name: str) -> None:
    event = delta(b"it is " + ALL[name](KEY) + b"!")
    start = event.index(b"it is")
    async with echoing(broker) as attempt:
        replies = await attempt.ask(*(_cut(event, at) for at in range(start, len(event))))
    assert len(replies) == len(event) - start
    for at, reply in enumerate(replies, start):
        assert reply.whole, at
        assert len(reply.body) == len(event + END), at
        assert clean(reply), at


@pytest.mark.parametrize("name", SEVEN + IN_LINES)
async def test_a_stream_in_single_bytes(broker: LiveBroker, name: str) -> None:
    event = delta(b"it is " + ALL[name](KEY) + b"!") + END
    single = [chunk(event[at : at + 1]) for at in range(len(event))]
    async with echoing(broker) as attempt:
        (reply,) = await attempt.ask(sends(_head([]), *single, b"0\r\n\r\n"))
    assert (len(reply.body), clean(reply)) == (len(event), True)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 11, 15, 29])
async def test_in_pieces_over_deltas(broker: LiveBroker, size: int) -> None:
    pieces = [KEY[at : at + size] for at in range(0, len(KEY), size)]
    events = [delta(b"key: "), *(delta(piece.encode()) for piece in pieces), delta(b"."), END]
    async with echoing(broker) as attempt:
        (reply,) = await attempt.ask(stream(*events))
        end = next(r for r in await attempt.records() if isinstance(r, ExchangeEnd))
    said = "".join(
        json.loads(line.removeprefix("data: "))["choices"][0]["delta"].get("content", "")
        for line in reply.body.decode().split("\n\n")
        if line.startswith("data: {")
    )
    assert len(said) == len(f"key: {KEY}.")
    assert KEY not in said
    assert len(said.removeprefix("key: ").partition("*")[0]) < 8
    assert end.secret_scrubbed


async def test_in_pieces_over_messages_deltas_and_tool_arguments(broker: LiveBroker) -> None:
    def event(kind: str, name: str, text: str) -> bytes:
        data = {"type": "content_block_delta", "index": 0, "delta": {"type": kind, name: text}}
        return b"event: content_block_delta\ndata: %b\n\n" % json.dumps(data).encode()

    text = [event("text_delta", "text", part) for part in ("is ", KEY[:13], KEY[13:], "!")]
    arguments = [
        event("input_json_delta", "partial_json", part)
        for part in ('{"command":"echo ', KEY[:9], KEY[9:20], KEY[20:] + '"}')
    ]
    stop = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    async with upstream(stream(*text, *arguments, stop)) as provider:
        changes = {"dialect": Dialect.ANTHROPIC_MESSAGES}
        async with enrolled(broker, provider.port, **changes) as run:
            reply = await ask(
                run.directory, MESSAGE.encode(), lease=run.lease, target="/v1/messages"
            )
    assert reply.whole
    pieces = [KEY[a:b] for a, b in itertools.pairwise([0, 9, 13, 20, len(KEY)])]
    assert [piece for piece in pieces if piece.encode() in reply.body] == []
    assert reply.body.count(b"*") == 2 * len(KEY)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("spelling", SEVEN + IN_LINES[:1])
async def test_in_an_unasked_encoding_it_is_refused(
    broker: LiveBroker, name: str, spelling: str
) -> None:
    encoding, encode = ENCODINGS[name]
    echo = SPELLINGS[spelling](KEY)
    header = [("content-encoding", encoding)]
    async with echoing(broker) as attempt:
        replies = await attempt.ask(
            response(200, encode(whole(echo)), headers=header),
            response(400, encode(error(echo)), headers=header),
            response(
                200,
                encode(delta(echo) + END),
                content_type="text/event-stream",
                headers=header,
            ),
        )
        ends = [record for record in await attempt.records() if isinstance(record, ExchangeEnd)]
    assert [reply.status for reply in replies] == [502, 502, 502]
    assert len({reply.body for reply in replies}) == 1
    assert all(map(clean, replies))
    assert all(end.secret_scrubbed for end in ends)


async def test_the_sweep_of_all_files_finds_what_is_there_and_no_key() -> None:
    """Its own broker, killed in the middle of an exchange and started again, then ended."""
    mark, begun = "req-MARK-4711", asyncio.Event()

    async def half(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(_head([]) + chunk(delta(KEY.encode()) + delta(KEY[:9].encode())))
        await writer.drain()
        begun.set()
        await asyncio.Event().wait()

    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        async with upstream() as provider:
            with live_broker(root) as broker:
                async with enrolled(broker, provider.port) as run:
                    for spell in SPELLINGS.values():
                        headers = [("x-request-id", f"{mark} {spell(KEY).decode()}")]
                        provider.answers[:] = [response(400, error(spell(KEY)), headers=headers)]
                        assert clean(await ask(run.directory, BODY, lease=run.lease))
                    provider.answers[:] = [half]
                    async with asyncio.TaskGroup() as group:
                        asking = group.create_task(ask(run.directory, BODY, lease=run.lease))
                        await begun.wait()
                        broker.kill()
                    assert clean(asking.result())
                    assert showing(root) == []
            with live_broker(root) as broker:
                await broker.records(run.id)
                await broker.close(run.id)
        assert any(mark.encode() in path.read_bytes() for path in files(root))
        assert any(path.suffix == ".log" for path in files(root))
        assert showing(root) == []
