"""The broker in front of the built rehearsal provider, as the demo runs it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.exchange import ExchangeResult, Finish
from stanchion.protocol.receipt import ExchangeEnd

SCRIPT = Path(__file__).parents[3] / "examples" / "tasks" / "hello" / "rehearsal.toml"


@contextlib.contextmanager
def rehearsal(log: Path) -> Iterator[int]:
    """Its port."""
    read_fd, write_fd = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable,
            *("-m", "stanchion.rehearsal", "--script", str(SCRIPT), "--port", "0"),
            *("--ready-fd", str(write_fd), "--key-stdin", "--die-with-stdin", "--log", str(log)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=(write_fd,),
    )
    os.close(write_fd)
    assert process.stdin is not None
    process.stdin.write(KEY.encode() + b"\n")
    process.stdin.flush()
    ready = os.read(read_fd, 4096)
    os.close(read_fd)
    try:
        yield json.loads(ready)["port"]
    finally:
        process.stdin.close()
        process.wait(20)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_scripted_turn_passes_with_the_real_key(
    broker: LiveBroker, tmp_path: Path, *, stream: bool
) -> None:
    body = json.dumps(
        {
            "model": MODEL,
            "max_tokens": LIMIT,
            "reasoning_effort": "max",
            "stream": stream,
            "messages": [{"role": "user", "content": "write it"}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        }
    ).encode()
    log = tmp_path / "witness.jsonl"
    with rehearsal(log) as port:
        async with enrolled(broker, port) as run:
            reply = await ask(run.directory, body, lease=run.lease)
            end = next(r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd))
    witness = json.loads(log.read_text().splitlines()[0])
    assert (reply.status, reply.whole) == (200, True)
    assert end.answered.result is ExchangeResult.COMPLETED
    assert end.answered.finish is Finish.TOOL_USE
    assert (end.answered.tool_calls, end.answered.reasoning_present) == (1, True)
    assert end.answered.provider_request_id == reply.headers["x-request-id"]
    assert witness["key_ok"] is True
    assert KEY not in log.read_text()
