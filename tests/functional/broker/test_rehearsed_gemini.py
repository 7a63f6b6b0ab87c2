"""Gemini through the broker in front of the built rehearsal provider: what each fault leaves."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.rehearsal_process import rehearsing
from fakes.supervisor import Response, ask
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import Effort, Waits
from stanchion.protocol.receipt import ExchangeEnd
from stanchion.protocol.refusal import RefusedError

DONE, ERROR = ExchangeResult.COMPLETED, ExchangeResult.PROVIDER_ERROR
CUT, UNREADABLE = ExchangeResult.TRUNCATED, ExchangeResult.UNREADABLE
BROKEN = ErrorClass.UPSTREAM_PROTOCOL


@dataclass(frozen=True)
class Case:
    """A fault, and what is on record of it with and without a stream."""

    fault: str
    streamed: tuple[ExchangeResult, ErrorClass | None, Finish | None]
    single: tuple[ExchangeResult, ErrorClass | None, Finish | None]


def both(*said: Any) -> Case:
    fault, *record = said
    return Case(fault, tuple(record), tuple(record))


CASES = {
    "error event": both(
        'kind = "error_event", after = 1', ERROR, ErrorClass.OVERLOADED, Finish.ERROR
    ),
    "cut": both('kind = "cut", after = 1, extra_bytes = 9', CUT, BROKEN, None),
    "reset": both('kind = "cut", after = 2, how = "rst"', CUT, BROKEN, None),
    "no usage": both('kind = "missing_usage"', DONE, None, Finish.STOP),
    "length": both('kind = "length"', DONE, None, Finish.LENGTH),
    "page": both('kind = "garbage", what = "html"', UNREADABLE, BROKEN, None),
    "nothing": both('kind = "garbage", what = "empty"', CUT, BROKEN, None),
    "plain line": Case(
        'kind = "garbage", what = "line", after = 1',
        (CUT, BROKEN, None),
        (UNREADABLE, BROKEN, None),
    ),
    "one broken event": Case(
        'kind = "garbage", what = "json", after = 0',
        (DONE, None, Finish.STOP),
        (UNREADABLE, BROKEN, None),
    ),
    "no reason": both('kind = "no_finish", done = true', CUT, BROKEN, None),
    "unknown reason": both('kind = "unknown_finish", word = "NEW"', DONE, None, Finish.UNKNOWN),
    "redirect": both('kind = "redirect", location = "http://h/"', UNREADABLE, BROKEN, None),
    "comments": both('kind = "drip", count = 2, interval_s = 0.01', DONE, None, Finish.STOP),
}
TERMS: dict[str, Any] = {
    "dialect": Dialect.GEMINI,
    "effort": Effort(word="high"),
    "waits": Waits(max_wait_s=0),
}


def turn(fault: str) -> str:
    return f'[[turn]]\nreasoning = "so"\ntext = "Done."\nfault = {{ {fault} }}\n'


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One provider whose script is every fault, one after the other."""
    folder = tmp_path_factory.mktemp("rehearsed")
    script = folder / "script.toml"
    echo = 'kind = "key_echo", where = "text", form = "deltas"'
    turns = [*(turn(case.fault) for case in CASES.values()), turn(echo)]
    script.write_text("\n".join(["version = 1", "[defaults]", "gap_ms = 0", *turns]))
    with rehearsing(script, key=KEY) as found:
        yield found


@pytest.fixture
async def run(broker: LiveBroker, port: int) -> AsyncIterator[Enrolment]:
    async with enrolled(broker, port, **TERMS) as found:
        yield found


async def send(run: Enrolment, turns: int, *, stream: bool) -> Response:
    user = {"role": "user", "parts": [{"text": "go"}]}
    said = {"role": "model", "parts": [{"text": "so"}]}
    thinking = {"thinkingLevel": "HIGH", "includeThoughts": True}
    body = {
        "contents": [user, *[said, user] * turns],
        "generationConfig": {"maxOutputTokens": LIMIT, "thinkingConfig": thinking},
        "tools": [{"functionDeclarations": [{"name": "bash"}]}],
    }
    action = "streamGenerateContent?alt=sse" if stream else "generateContent"
    target = f"/v1beta/models/{MODEL}:{action}"
    return await ask(run.directory, json.dumps(body).encode(), lease=run.lease, target=target)


async def end_of(broker: LiveBroker, run: Enrolment) -> ExchangeEnd:
    return next(r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd))


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "single"])
@pytest.mark.parametrize("name", CASES)
async def test_a_fault_leaves_its_record(
    broker: LiveBroker, run: Enrolment, name: str, stream: bool
) -> None:
    await send(run, list(CASES).index(name), stream=stream)
    answered = (await end_of(broker, run)).answered
    expected = CASES[name].streamed if stream else CASES[name].single
    assert (answered.result, answered.error_class, answered.finish) == expected
    if answered.result is DONE:
        assert answered.reasoning_present is True
        assert answered.text_present is True
        assert (answered.usage is None) == (name == "no usage")


async def test_a_refused_key_is_seen_in_the_details_and_trips_the_account(
    broker: LiveBroker, tmp_path: Path
) -> None:
    script = tmp_path / "script.toml"
    fault = 'kind = "status", status = 400, error_code = "API_KEY_INVALID"'
    script.write_text("version = 1\n" + turn(fault))
    with rehearsing(script, key=KEY) as port:
        async with enrolled(broker, port, **TERMS) as run:
            reply = await send(run, 0, stream=True)
            answered = (await end_of(broker, run)).answered
        with pytest.raises(RefusedError, match="refused the key"):
            async with enrolled(broker, port, **TERMS):
                pass
    assert (reply.status, answered.error_class) == (400, ErrorClass.AUTH)


async def test_a_key_that_is_echoed_over_two_events_stays_outside(
    broker: LiveBroker, run: Enrolment
) -> None:
    reply = await send(run, len(CASES), stream=True)
    end = await end_of(broker, run)
    assert (reply.status, reply.whole, end.secret_scrubbed) == (200, True, True)
    texts = [
        part.get("text", "")
        for line in reply.body.decode().splitlines()
        if line.startswith("data: ")
        for candidate in json.loads(line.removeprefix("data: "))["candidates"]
        for part in candidate["content"]["parts"]
    ]
    assert "".join(texts) == f"soDone. Your key is {'*' * len(KEY)}"
    assert end.answered.finish is Finish.STOP
