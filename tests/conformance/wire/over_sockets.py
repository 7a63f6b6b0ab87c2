"""Sends fixtures through one live broker process over real sockets, several at a time.

Harness, broker and provider are three ends of real connections; the clock is the machine's, but
no silence of a fixture is waited for.
"""

import asyncio
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from conformance.wire.provider import Capture, Provider, provider
from conformance.wire.recorded import load
from conformance.wire.replay import pieces
from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import Response, parse
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Effort, Limit, Limits, LimitSource, Waits
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, Record

AT_A_TIME = 12
PATIENCE_S = 120.0
"""For an exchange that hangs: it fails then."""

Key = tuple[Path, str]
M = TypeVar("M", bound=Record)


@dataclass(frozen=True)
class Door:
    """How a harness asks in a dialect when its fixture does not say."""

    path: str
    body: str
    effort: str = "max"
    whole_path: str | None = None
    """Where another one is for an answer that is not streamed."""

    def target(self, content_type: str) -> str:
        streamed = content_type.startswith("text/event")
        return self.path if streamed else self.whole_path or self.path


_GEMINI = f"/v1beta/models/{MODEL}"
DOORS = {
    Dialect.OPENAI_CHAT: Door(
        path="/v1/chat/completions",
        body=f'{{ "model":"{MODEL}", "max_tokens" : {LIMIT},"reasoning_effort":"max","stream":true,'
        '"x_unknown":{"a":1.50,"b":1.0e4},"messages":[{"role":"user","content":"caf\\u00e9 é"}]}',
    ),
    Dialect.OPENAI_RESPONSES: Door(
        path="/v1/responses",
        body=f'{{ "model":"{MODEL}", "max_output_tokens" : {LIMIT},"reasoning":{{"effort":"max"}},'
        '"stream":true,"x_unknown":1.50,"input":[{"role":"user","content":"caf\\u00e9 é"}]}',
    ),
    Dialect.ANTHROPIC_MESSAGES: Door(
        path="/v1/messages",
        body=f'{{ "model":"{MODEL}", "max_tokens" : {LIMIT},"output_config":{{"effort":"max"}},'
        '"stream":true,"x_unknown":1.50,"messages":[{"role":"user","content":"caf\\u00e9 é"}]}',
    ),
    Dialect.GEMINI: Door(
        path=f"{_GEMINI}:streamGenerateContent?alt=sse",
        whole_path=f"{_GEMINI}:generateContent",
        body='{ "contents":[{"role":"user","parts":[{"text":"caf\\u00e9 é"}]}],"x_unknown":1.50,'
        f'"generationConfig":{{"maxOutputTokens" : {LIMIT},'
        '"thinkingConfig":{"thinkingLevel":"high"}}}',
        effort="high",
    ),
}


@dataclass
class Exchanged:
    """One exchange as its three ends saw it."""

    capture: Capture
    reply: Response
    records: tuple[Record, ...]

    def of(self, kind: type[M]) -> list[M]:
        """The records of a kind."""
        return [record for record in self.records if isinstance(record, kind)]

    @property
    def start(self) -> ExchangeStart:
        return self.of(ExchangeStart)[0]

    @property
    def end(self) -> ExchangeEnd:
        return self.of(ExchangeEnd)[0]


async def exchange_all(broker: LiveBroker, keys: list[Key]) -> dict[Key, Exchanged | BaseException]:
    """Every fixture of `keys`, each in an attempt of its own; what failed is its own result."""
    turns = asyncio.Semaphore(AT_A_TIME)

    async def one(key: Key) -> Exchanged:
        async with turns, asyncio.timeout(PATIENCE_S):
            return await _exchange(broker, *key)

    found = await asyncio.gather(*map(one, keys), return_exceptions=True)
    return dict(zip(keys, found, strict=True))


async def _exchange(broker: LiveBroker, path: Path, way: str) -> Exchanged:
    recorded, dialect = load(path), Dialect(path.parent.name)
    asked = recorded.request
    effort = asked.effort or DOORS[dialect].effort
    limit = Limit(value=asked.limit or LIMIT, source=LimitSource.LAUNCH)
    async with (
        provider(recorded, pieces(recorded, way)) as up,
        enrolled(
            broker,
            up.port,
            dialect=dialect,
            limits=Limits(output_tokens=limit),
            effort=Effort(word=effort),
            waits=Waits(max_wait_s=0),  # a failure goes back at once
            key=f"{KEY}{secrets.token_hex(4)}",  # a port may come again: one account for each
        ) as run,
    ):
        reply = await _ask(run, up, DOORS[dialect])
    await broker.close(run.id)  # everything is on record then, also what was not waited for
    return Exchanged(up.capture, reply, await broker.records(run.id))


async def _ask(run: Enrolment, up: Provider, door: Door) -> Response:
    """The harness's side: its request, and everything that comes back."""
    body = (up.recorded.request.body or door.body).encode()
    target = door.target(up.recorded.content_type)
    head = (
        f"POST {target} HTTP/1.1\r\nhost: relay\r\ncontent-type: application/json\r\n"
        f"x-stanchion-lease: {run.lease}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
    writer.write(head.encode() + body)
    answer = b""
    while data := await reader.read(1 << 20):
        answer += data
        if b"\r\n\r\n" in answer and len(parse(answer).body) >= len(up.recorded.whole):
            up.seen.set()
    writer.close()
    return parse(answer)
