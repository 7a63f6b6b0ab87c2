"""Budgets and refused accounts through a real broker: who is stopped, and what is said."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from fakes.launches import order, spec
from fakes.supervisor import Supervisor, ask
from fakes.upstream import Received, response, say, stream, upstream
from functional.broker.live import LiveBroker, enrolled, live_broker
from stanchion.protocol.control import Enrolled, ExchangeSeen, StopOrder, WireEvent
from stanchion.protocol.events import ExchangeHeld
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.launch import Budget, ModelRef, Waits
from stanchion.protocol.receipt import Denied, ExchangeEnd
from stanchion.protocol.refusal import RefusedError

BODY = (
    b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true,'
    b'"messages":[]}'
)
OTHER = BODY.replace(b'"messages":[]', b'"messages":[ ]')


def answer(usage: str) -> tuple[bytes, ...]:
    return (
        say('{"model":"fx-coder-1","choices":[{"delta":{"content":"ok"}}]}'),
        say('{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
        say(f'{{"choices":[]{usage}}}', "[DONE]"),
    )


THIRTY = stream(*answer(',"usage":{"prompt_tokens":7,"completion_tokens":30}'))
SILENT = stream(*answer(""))
REFUSED = response(
    401,
    b'{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}',
    headers=[("x-request-id", "req_9")],
)
BUSY = response(429, b'{"error":{"message":"slow"}}', headers=[("retry-after", "3600")])


async def stop_of(supervisor: Supervisor) -> Stop:
    return (await supervisor.hear_of(StopOrder)).stop


async def test_a_spent_request_budget_stops_before_the_next_is_sent(broker: LiveBroker) -> None:
    async with (
        upstream(THIRTY) as provider,
        enrolled(broker, provider.port, budget=Budget(requests=2)) as run,
    ):
        replies = [await ask(run.directory, BODY, lease=run.lease) for _ in range(3)]
        assert [reply.status for reply in replies] == [200, 200, 403]
        stop = await stop_of(run.supervisor)
        assert stop.reason is StopReason.BUDGET
        assert stop.detail == "budget spent: 2 of 2 requests"
        assert len(provider.received) == 2
        await run.supervisor.close()
        await broker.close(run.id)
        denied = [r.why for r in await broker.records(run.id) if isinstance(r, Denied)]
        assert denied == ["budget_spent"]


async def test_output_tokens_are_settled_by_what_the_provider_reports(broker: LiveBroker) -> None:
    async with (
        upstream(THIRTY) as provider,
        enrolled(broker, provider.port, budget=Budget(output_tokens=60)) as run,
    ):
        for _ in range(2):
            assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 403
        assert (await stop_of(run.supervisor)).detail == "budget spent: 60 of 60 output tokens"


async def test_an_answer_without_usage_keeps_its_reservation(broker: LiveBroker) -> None:
    async with (
        upstream(SILENT) as provider,
        enrolled(broker, provider.port, budget=Budget(output_tokens=128_000)) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 403
        stop = await stop_of(run.supervisor)
        assert "128000 of them reserved for 1 answers that reported no usage" in stop.detail


async def test_a_request_waits_while_another_may_use_up_the_rest(broker: LiveBroker) -> None:
    gate, arrived = asyncio.Event(), asyncio.Event()

    async def slow(request: Received, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await gate.wait()
        await THIRTY(request, writer)

    async with (
        upstream(slow, THIRTY) as provider,
        enrolled(broker, provider.port, budget=Budget(output_tokens=1_000)) as run,
        asyncio.TaskGroup() as tasks,
    ):
        first = tasks.create_task(ask(run.directory, BODY, lease=run.lease))
        await arrived.wait()
        second = tasks.create_task(ask(run.directory, OTHER, lease=run.lease))
        third = await ask(run.directory, BODY, lease=None)  # an answer: the loop has turned
        assert third.status == 401
        assert len(provider.received) == 1
        gate.set()
        assert [(await first).status, (await second).status] == [200, 200]


def configure(root: Path, port: int, *, credential: str = "file:key") -> str:
    (root / "key").write_text("sk-CANARY-of-the-account\n", encoding="ascii")
    (root / "key").chmod(0o600)
    text = f"""
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "{credential}"
max_in_flight = 2
allow_plain_http = true
"""
    (root / "stanchion.toml").write_text(text, encoding="utf-8")
    return str(root / "stanchion.toml")


async def attempt(broker: LiveBroker, run: str, *, max_wait_s: int = 1200) -> Supervisor:
    launch = msgspec.structs.replace(
        order(run=run),
        spec=spec(
            profile="evals",
            model=ModelRef(account="lab", id="fx-coder-1"),
            waits=Waits(max_wait_s=max_wait_s),
        ),
        rehearsal=None,
    )
    async with broker.client() as client:
        opened = await client.open_run(launch)
        ticket = await client.enrol(opened.id)
    supervisor = Supervisor(Path(opened.directory))
    assert isinstance(await supervisor.enrol(ticket.token, opened.launch_sha256), Enrolled)
    return supervisor


async def test_a_refused_key_trips_the_account_until_the_key_file_is_written_again(
    root: Path,
) -> None:
    async with upstream(REFUSED, THIRTY) as provider:
        with live_broker(root, "--config", configure(root, provider.port)) as broker:
            one = await attempt(broker, "a" * 12)
            two = await attempt(broker, "b" * 12)
            assert (await ask(one.directory, BODY, lease=one.lease)).status == 401
            stop = await stop_of(one)
            assert stop.reason is StopReason.PROVIDER_REFUSED
            assert stop.detail == (
                "lab refused the key of evals/lab (401 auth, req_9): Incorrect API key provided. "
                "Fix: stanchion key set evals/lab, then stanchion run --resume DIR"
            )
            # Another attempt under the same account is not sent either.
            assert (await ask(two.directory, OTHER, lease=two.lease)).status == 403
            assert (await stop_of(two)).detail == stop.detail
            assert len(provider.received) == 1
            with pytest.raises(RefusedError, match="lab refused the key of evals/lab") as refused:
                await attempt(broker, "c" * 12)
            assert refused.value.refusal.id == "account_tripped"
            async with broker.client() as client:
                assert (await client.profile("evals")).tripped == {"lab": stop.detail}
                gauge = 'stanchion_account_tripped{account="lab",profile="evals"}'
                assert f"{gauge} 1.0" in await client.metrics()
            (root / "key").write_text("sk-CANARY-the-new-key\n", encoding="ascii")
            three = await attempt(broker, "d" * 12)
            assert (await ask(three.directory, BODY, lease=three.lease)).status == 200
            assert provider.received[1].headers["authorization"] == "Bearer sk-CANARY-the-new-key"
            async with broker.client() as client:
                assert (await client.profile("evals")).tripped == {}
            for supervisor in (one, two, three):
                await supervisor.close()


async def test_what_is_held_ends_when_the_account_trips(root: Path) -> None:
    """The first is held for its rate, the second shows that the key is refused."""
    gate = asyncio.Event()

    async def late(request: Received, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        await REFUSED(request, writer)

    async with upstream(late, BUSY) as provider:
        config = configure(root, provider.port)
        with live_broker(root, "--config", config) as broker:
            one = await attempt(broker, "a" * 12)
            two = await attempt(broker, "b" * 12, max_wait_s=7200)
            async with asyncio.TaskGroup() as tasks:
                refused = tasks.create_task(ask(one.directory, BODY, lease=one.lease))
                await one.hear_of(ExchangeSeen)
                held = tasks.create_task(ask(two.directory, OTHER, lease=two.lease))
                while not isinstance((await two.hear_of(WireEvent)).event, ExchangeHeld):
                    pass
                gate.set()
            assert (refused.result().status, held.result().status) == (401, 403)
            assert (await stop_of(two)).reason is StopReason.PROVIDER_REFUSED
            end = next(
                r for r in await broker.records(f"{'b' * 12}.1") if isinstance(r, ExchangeEnd)
            )
            assert end.answered.result is ExchangeResult.NOT_SENT
            await one.close()
            await two.close()


async def test_no_more_than_the_account_allows_are_in_flight(root: Path) -> None:
    gate = asyncio.Event()

    async def slow(request: Received, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        await THIRTY(request, writer)

    async with upstream(slow) as provider:
        with live_broker(root, "--config", configure(root, provider.port)) as broker:
            one = await attempt(broker, "a" * 12)
            bodies = [BODY.replace(b"[]", b'["%d"]' % number) for number in range(3)]
            async with asyncio.TaskGroup() as tasks:
                asking = [
                    tasks.create_task(ask(one.directory, body, lease=one.lease)) for body in bodies
                ]
                while not isinstance((await one.hear_of(WireEvent)).event, ExchangeHeld):
                    pass
                assert len(provider.received) <= 2
                async with broker.client() as client:
                    text = await client.metrics()
                assert 'stanchion_account_waiting{account="lab",profile="evals"} 1.0' in text
                gate.set()
            assert [task.result().status for task in asking] == [200, 200, 200]
            await one.close()
