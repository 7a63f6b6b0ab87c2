"""The broker in front of the built rehearsal provider, as the demo runs it."""

import json
from pathlib import Path

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.rehearsal_process import rehearsing
from fakes.supervisor import ask
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.exchange import ErrorClass, ExchangeResult, Finish
from stanchion.protocol.receipt import ExchangeEnd, ExchangeTry

SCRIPT = Path(__file__).parents[3] / "examples" / "tasks" / "hello" / "rehearsal.toml"


def body(*, stream: bool) -> bytes:
    return json.dumps(
        {
            "model": MODEL,
            "max_tokens": LIMIT,
            "reasoning_effort": "max",
            "stream": stream,
            "messages": [{"role": "user", "content": "write it"}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        }
    ).encode()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_scripted_turn_passes_with_the_real_key(
    broker: LiveBroker, tmp_path: Path, *, stream: bool
) -> None:
    log = tmp_path / "witness.jsonl"
    with rehearsing(SCRIPT, key=KEY, log=log) as port:
        async with enrolled(broker, port) as run:
            reply = await ask(run.directory, body(stream=stream), lease=run.lease)
            end = next(r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd))
    witness = json.loads(log.read_text().splitlines()[0])
    assert (reply.status, reply.whole) == (200, True)
    assert end.answered.result is ExchangeResult.COMPLETED
    assert end.answered.finish is Finish.TOOL_USE
    assert (end.answered.tool_calls, end.answered.reasoning_present) == (1, True)
    assert end.answered.provider_request_id == reply.headers["x-request-id"]
    assert witness["key_ok"] is True
    assert KEY not in log.read_text()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("status = 429, retry_after = 1", ErrorClass.RATE_LIMITED),
        ('status = 529, error_type = "overloaded_error"', ErrorClass.OVERLOADED),
        ("status = 500", ErrorClass.SERVER_ERROR),
    ],
)
async def test_a_fault_that_passes_is_waited_out(
    broker: LiveBroker, tmp_path: Path, fault: str, kind: ErrorClass
) -> None:
    script = tmp_path / "script.toml"
    script.write_text(
        f'version = 1\n[[turn]]\ntext = "done"\nfault = {{ kind = "status", {fault}, times = 1 }}\n'
    )
    log = tmp_path / "witness.jsonl"
    with rehearsing(script, key=KEY, log=log) as port:
        async with enrolled(broker, port) as run:
            reply = await ask(run.directory, body(stream=True), lease=run.lease)
            records = await broker.records(run.id)
    (tried,) = (record for record in records if isinstance(record, ExchangeTry))
    (end,) = (record for record in records if isinstance(record, ExchangeEnd))
    assert (reply.status, tried.error_class, end.tries) == (200, kind, 2)
    assert log.read_text().count("\n") == 2
