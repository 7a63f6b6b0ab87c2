"""The rehearsal provider says its key back, in every dialect, and the broker masks it."""

import json
import re
from pathlib import Path

import pytest

from fakes.echoes import shows
from fakes.launches import KEY, LIMIT, MODEL
from fakes.rehearsal_process import rehearsing
from fakes.supervisor import Response, ask
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Effort
from stanchion.protocol.receipt import ExchangeEnd

HELLO = {"role": "user", "content": "hello"}
GEMINI = f"/v1beta/models/{MODEL}"
REQUESTS: dict[Dialect, tuple[str, str, dict[str, object]]] = {
    Dialect.OPENAI_CHAT: (
        "/v1/chat/completions",
        "/v1/chat/completions",
        {
            "model": MODEL,
            "max_tokens": LIMIT,
            "messages": [HELLO],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        },
    ),
    Dialect.OPENAI_RESPONSES: (
        "/v1/responses",
        "/v1/responses",
        {
            "model": MODEL,
            "max_output_tokens": LIMIT,
            "store": False,
            "input": [HELLO],
            "tools": [{"type": "function", "name": "bash", "parameters": {}}],
        },
    ),
    Dialect.ANTHROPIC_MESSAGES: (
        "/v1/messages",
        "/v1/messages",
        {
            "model": MODEL,
            "max_tokens": LIMIT,
            "messages": [HELLO],
            "tools": [{"name": "bash", "input_schema": {}}],
        },
    ),
    Dialect.GEMINI: (
        f"{GEMINI}:generateContent",
        f"{GEMINI}:streamGenerateContent?alt=sse",
        {
            "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
            "generationConfig": {"maxOutputTokens": LIMIT},
            "tools": [{"functionDeclarations": [{"name": "bash"}]}],
        },
    ),
}
"""The target of a whole answer and of a stream, and the body without its word for a stream."""


async def answers(broker: LiveBroker, port: int, dialect: Dialect) -> list[Response]:
    whole, streamed, body = REQUESTS[dialect]
    in_path = whole != streamed
    async with enrolled(broker, port, dialect=dialect, effort=Effort()) as run:
        replies = [
            await ask(
                run.directory,
                json.dumps(body if in_path else {**body, "stream": stream}).encode(),
                lease=run.lease,
                target=streamed if stream else whole,
            )
            for stream in (True, False)
        ]
        records = await broker.records(run.id)
    ends = [record for record in records if isinstance(record, ExchangeEnd)]
    assert [end.secret_scrubbed for end in ends] == [True, True]
    assert not shows(str(records).encode(), KEY)
    return replies


def spoken(stream: bytes) -> str:
    """All strings of a field that holds a text, joined as a harness does."""
    return b"".join(re.findall(rb'"(?:content|text|delta)": ?"([^"]*)"', stream)).decode()


@pytest.mark.parametrize("form", ["plain", "base64", "split", "deltas"])
async def test_in_the_text_of_an_answer(broker: LiveBroker, tmp_path: Path, form: str) -> None:
    script = tmp_path / "script.toml"
    fault = f'{{ kind = "key_echo", where = "text", form = "{form}" }}'
    script.write_text(f'version = 1\n[[turn]]\ntext = "done"\nfault = {fault}\n')
    with rehearsing(script, key=KEY) as port:
        replies = [reply for dialect in REQUESTS for reply in await answers(broker, port, dialect)]
    for reply in replies:
        assert (reply.status, reply.whole) == (200, True)
        assert not shows(reply.body, KEY)
        assert KEY not in spoken(reply.body)
        assert "Your key is" in spoken(reply.body)


@pytest.mark.parametrize("form", ["plain", "base64", "split"])
async def test_in_the_message_of_an_error(broker: LiveBroker, tmp_path: Path, form: str) -> None:
    script = tmp_path / "script.toml"
    fault = f'{{ kind = "key_echo", where = "body", form = "{form}", status = 422 }}'
    script.write_text(f'version = 1\n[[turn]]\ntext = "done"\nfault = {fault}\n')
    with rehearsing(script, key=KEY) as port:
        replies = [reply for dialect in REQUESTS for reply in await answers(broker, port, dialect)]
    for reply in replies:
        assert (reply.status, reply.whole) == (422, True)
        assert b"Incorrect API key provided: ***" in reply.body
        assert not shows(reply.body, KEY)
