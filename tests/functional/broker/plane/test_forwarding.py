"""Requests over connections that were kept open, through a real broker: never a second time."""

import asyncio

from fakes.supervisor import ask
from fakes.upstream import Answer, Received, response, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.exchange import ErrorClass, ExchangeResult
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd, ExchangeTry

BODY = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max"}'
OK = response(
    200,
    b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":4}}',
)


async def hang_up(_: Received, writer: asyncio.StreamWriter) -> None:
    """The request was read whole; perhaps it was worked on, too."""
    writer.close()


def then_close(answer: Answer) -> Answer:
    """Answer, then close the connection as an idle one."""

    async def both(request: Received, writer: asyncio.StreamWriter) -> None:
        await answer(request, writer)
        await writer.drain()
        writer.close()

    return both


async def ends(broker: LiveBroker, run: Enrolment) -> list[ExchangeEnd]:
    return [r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd)]


async def test_requests_of_an_account_share_a_connection(broker: LiveBroker) -> None:
    async with upstream(OK, keeps=True) as provider, enrolled(broker, provider.port) as run:
        for _ in range(3):
            assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert [request.connection for request in provider.received] == [1, 1, 1]


async def test_a_request_that_a_kept_connection_lost_is_not_sent_again(broker: LiveBroker) -> None:
    """Whether the provider worked on it, nobody knows: a POST is not idempotent (RFC 9110)."""
    async with (
        upstream(OK, hang_up, OK, keeps=True) as provider,
        enrolled(broker, provider.port) as run,
    ):
        first = await ask(run.directory, BODY, lease=run.lease)
        lost = await ask(run.directory, BODY, lease=run.lease)
        third = await ask(run.directory, BODY, lease=run.lease)
        assert (first.status, lost.status, third.status) == (200, 502, 200)
        assert [request.connection for request in provider.received] == [1, 1, 2]
        _, end, _ = await ends(broker, run)
        assert (end.tries, end.answered.ambiguous) == (1, True)
        assert end.answered.result is ExchangeResult.UPSTREAM_UNREACHABLE
        assert end.answered.error_class is ErrorClass.CONNECT
        assert "kept open" in (end.answered.error_words or "")
        assert end.answered.usage is None


async def test_a_connection_that_closed_before_anything_was_sent_is_no_try(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(then_close(OK), OK, keeps=True) as provider,
        enrolled(broker, provider.port) as run,
    ):
        for _ in range(2):
            assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert [request.connection for request in provider.received] == [1, 2]
        assert [(end.tries, end.answered.ambiguous) for end in await ends(broker, run)] == [
            (1, False),
            (1, False),
        ]


async def test_a_new_connection_that_was_cut_is_tried_again_and_says_what_is_not_known(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(hang_up, OK, keeps=True) as provider,
        enrolled(broker, provider.port) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        (tried,) = (r for r in await broker.records(run.id) if isinstance(r, ExchangeTry))
        assert (tried.status, tried.ambiguous) == (None, True)
        (end,) = await ends(broker, run)
        assert (end.tries, end.answered.ambiguous) == (2, False)


async def test_nothing_is_ambiguous_about_a_provider_that_was_never_reached(
    broker: LiveBroker,
) -> None:
    async with upstream(OK) as provider:
        port = provider.port
    async with enrolled(broker, port, waits=Waits(max_wait_s=0)) as run:
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 502
        (end,) = await ends(broker, run)
        assert (end.answered.error_class, end.answered.ambiguous) == (ErrorClass.CONNECT, False)


async def test_a_revocation_before_the_answer_leaves_the_cost_unknown(
    broker: LiveBroker,
) -> None:
    asked, gate = asyncio.Event(), asyncio.Event()

    async def think(_: Received, __: asyncio.StreamWriter) -> None:
        asked.set()
        await gate.wait()

    async with upstream(think) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(BODY)}\r\n\r\n"
        )
        writer.write(head.encode() + BODY)
        await asked.wait()
        async with broker.client() as client:
            await client.cancel(run.id)
        assert await reader.read() == b""
        writer.close()
        while not (found := await ends(broker, run)):
            pass
        assert found[0].answered.result is ExchangeResult.REVOKED
        assert found[0].answered.ambiguous
        gate.set()
