"""Attacks 30 to 32: a race for the budget, raised limits, and leaving before the usage comes."""

import asyncio
import socket
from pathlib import Path

import pytest

from fakes.launches import LIMIT, order
from fakes.raw_sink import ANSWER_BODY
from fakes.supervisor import ask
from fakes.upstream import STREAM_HEAD, Received, chunk, response, say, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from security.broker.hostile_provider import answered
from security.broker.raw_client import BODY, received
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.launch import Budget, Limit, Limits, LimitSource
from stanchion.protocol.receipt import RunOpen
from stanchion.protocol.refusal import RefusedError

OK = response(200, ANSWER_BODY)


# Attack 30: a race for the budget.


@pytest.mark.parametrize(
    "budget", [Budget(requests=3), Budget(output_tokens=3 * LIMIT)], ids=["requests", "tokens"]
)
async def test_attack_30_of_200_at_once_no_more_are_sent_than_the_budget_has(
    broker: LiveBroker, budget: Budget
) -> None:
    """The answers report no usage, so that each keeps what was reserved for it."""
    async with upstream(OK) as provider, enrolled(broker, provider.port, budget=budget) as run:
        replies = await asyncio.gather(
            *(ask(run.directory, BODY, lease=run.lease) for _ in range(200))
        )
        assert len(provider.received) == 3
        assert sorted({reply.status for reply in replies}) == [200, 403]
        assert sum(reply.status == 200 for reply in replies) == 3


# Attack 31: raising one's own limits.


async def test_attack_31_the_terms_of_an_attempt_never_change(broker: LiveBroker) -> None:
    more = Limits(output_tokens=Limit(value=10 * LIMIT, source=LimitSource.LAUNCH))
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port, budget=Budget(requests=5)) as run,
        broker.client() as client,
    ):
        name, _, attempt = run.id.partition(".")
        again = order(provider.port, run=name, attempt=int(attempt), limits=more)
        with pytest.raises(RefusedError) as refused:
            await client.open_run(again)
        assert refused.value.refusal.id == "attempt_exists"
        wide = BODY.replace(b"128000", b"1280000")
        assert (await ask(run.directory, wide, lease=run.lease)).status == 403
        for method in ("PUT", "PATCH", "DELETE"):
            assert admin(broker, method, f"/v1/runs/{run.id}") in {404, 405}
        (opened,) = [r for r in await broker.records(run.id) if isinstance(r, RunOpen)]
        assert opened.launch_sha256 == run.opened.launch_sha256
        assert opened.launch.spec.budget.requests == 5
        assert provider.received == []


def admin(broker: LiveBroker, method: str, path: str) -> int:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(broker.paths.admin_socket))
        client.sendall(
            f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n"
            "connection: close\r\n\r\n{}".encode()
        )
        return int(received(client).split(b" ")[1])


# Attack 32: leaving before the usage comes.


async def leave(run_directory: Path, lease: str, seen: asyncio.Event) -> None:
    _, writer = await asyncio.open_unix_connection(str(run_directory / "model.sock"))
    writer.write(
        f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {lease}\r\n"
        f"content-length: {len(BODY)}\r\n\r\n".encode()
        + BODY
    )
    await seen.wait()
    writer.transport.abort()


@pytest.mark.parametrize("reported", [True, False], ids=["usage follows", "nothing follows"])
async def test_attack_32_who_leaves_in_mid_stream_hides_no_usage(
    broker: LiveBroker, reported: bool
) -> None:
    seen = asyncio.Event()

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(say('{"choices":[{"delta":{"content":"a"}}]}')))
        await writer.drain()
        seen.set()
        if reported:
            usage = '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":900}}'
            writer.write(chunk(say(usage, "[DONE]")) + b"0\r\n\r\n")

    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, budget=Budget(output_tokens=LIMIT)) as run,
    ):
        await leave(run.directory, run.lease, seen)
        end = await answered(broker, run.id)
        if reported:
            assert end.answered.usage is not None
            assert end.answered.usage.output_tokens == 900
        else:
            assert end.answered.result is not ExchangeResult.COMPLETED
            assert end.answered.usage is None
            assert end.answered.usage_why
            # What nobody knows is counted as all that it may have been.
            assert (await ask(run.directory, BODY, lease=run.lease)).status == 403


async def test_attack_32_leaving_at_once_again_and_again_is_counted(broker: LiveBroker) -> None:
    async with (
        upstream(stream(say('{"choices":[{"delta":{"content":"a"}}]}', "[DONE]"))) as provider,
        enrolled(broker, provider.port, budget=Budget(requests=4)) as run,
    ):
        now = asyncio.Event()
        now.set()
        for _ in range(10):
            await leave(run.directory, run.lease, now)
        while (await ask(run.directory, BODY, lease=run.lease)).status != 403:
            pass
        assert len(provider.received) <= 4
