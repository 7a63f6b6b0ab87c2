"""Enrolment, resumption, acknowledgement: who gets the lease, and that no event counts twice."""

import asyncio
import secrets
from pathlib import Path

import pytest

from fakes.launches import order
from fakes.supervisor import Supervisor, ask
from fakes.upstream import STREAM_HEAD, Received, chunk, response, say, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.control import (
    Ack,
    Enrolled,
    ExchangeSeen,
    Refused,
    Renew,
    StopOrder,
    WireEvent,
)
from stanchion.protocol.events import (
    AssertedBy,
    HarnessEnded,
    HarnessStarted,
    IsolationChecked,
    Warned,
    decode_event,
)
from stanchion.protocol.evidence import WaitStatus
from stanchion.protocol.receipt import Denied, ExchangeEnd, RunStarted, TokenIssued

BODY = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true}'


def warned(text: str) -> Warned:
    return Warned(what="test", detail=text)


async def _told(broker: LiveBroker, run: str) -> list[str]:
    async with broker.client() as client:
        page = await client.events(run)
    told = [(entry.asserted_by, decode_event(entry.event)) for entry in page.entries]
    return [
        event.detail for by, event in told if by is AssertedBy.SANDBOX and isinstance(event, Warned)
    ]


async def test_of_fifty_redemptions_exactly_one_wins(broker: LiveBroker) -> None:
    async with broker.client() as client:
        opened = await client.open_run(order(run=secrets.token_hex(6)))
        ticket = await client.enrol(opened.id)
    racers = [Supervisor(Path(opened.directory), boot=f"boot-{n}") for n in range(50)]
    answers = await asyncio.gather(
        *(racer.enrol(ticket.token, opened.launch_sha256) for racer in racers)
    )
    assert sum(isinstance(answer, Enrolled) for answer in answers) == 1
    assert sum(isinstance(answer, Refused) for answer in answers) == 49
    records = await broker.records(opened.id)
    refused = [r for r in records if isinstance(r, Denied) and r.why.startswith("security: enrol")]
    assert len(refused) == 49
    for racer in racers:
        await racer.close()


async def test_a_second_supervisor_start_is_refused_and_on_record(broker: LiveBroker) -> None:
    async with broker.client() as client:
        opened = await client.open_run(order(run=secrets.token_hex(6)))
        ticket = await client.enrol(opened.id)
    first = Supervisor(Path(opened.directory))
    second = Supervisor(Path(opened.directory), boot="boot-2")
    assert isinstance(await first.enrol(ticket.token, opened.launch_sha256), Enrolled)
    refused = await second.enrol(ticket.token, opened.launch_sha256)
    assert refused == Refused(why="enrolment refused: already_redeemed")
    assert await second.hear() is None
    assert "already_redeemed" in str(await broker.records(opened.id))
    await first.publish(warned("the first one goes on"))
    await first.close()
    await second.close()


async def test_another_launch_spec_is_refused(broker: LiveBroker) -> None:
    async with broker.client() as client:
        opened = await client.open_run(order(run=secrets.token_hex(6)))
        ticket = await client.enrol(opened.id)
    supervisor = Supervisor(Path(opened.directory))
    assert isinstance(await supervisor.enrol(ticket.token, "0" * 64), Refused)
    assert await supervisor.hear() is None
    await supervisor.close()


async def test_events_are_stored_once_and_in_order_over_a_resumed_connection(
    broker: LiveBroker,
) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.publish(warned("one"), warned("two"))
        await run.supervisor.close()
        answer = await run.supervisor.resume()
        assert isinstance(answer, Enrolled)
        assert answer.acked_seq == 2
        await run.supervisor.publish(warned("two again"), seq=2)
        await run.supervisor.publish(warned("three"), seq=3)
        assert await _told(broker, run.id) == ["one", "two", "three"]


async def test_what_a_cut_supervisor_missed_is_told_after(broker: LiveBroker) -> None:
    ok = response(200, b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}')
    async with upstream(ok) as provider, enrolled(broker, provider.port) as run:
        await run.supervisor.publish(warned("before"))
        await run.supervisor.close()
        while isinstance(await run.supervisor.hear(), Ack):
            pass
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        async with broker.client() as client:
            await client.cancel(run.id)
        again = Supervisor(run.directory, lease=run.lease)
        assert isinstance(await again.resume(), Enrolled)
        heard = [await again.hear(), await again.hear(), await again.hear()]
        assert [type(message) for message in heard] == [ExchangeSeen, WireEvent, StopOrder]
        await again.close()


async def test_the_last_word_comes_after_the_lease_has_ended(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.publish(
            HarnessEnded(wait=WaitStatus(exit_code=0), namespace_empty=True)
        )
        await run.supervisor.send(Renew(generation=1))
        assert (await run.supervisor.hear_of(Enrolled)).generation == 2
        await run.supervisor.close()
        assert isinstance(await run.supervisor.resume(), Enrolled)
        await run.supervisor.publish(warned("the verdict"))
        assert await _told(broker, run.id) == ["the verdict"]
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 401


async def test_a_gap_is_an_event_of_the_broker(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.publish(warned("five"), seq=5)
        async with broker.client() as client:
            page = await client.events(run.id)
        told = [decode_event(entry.event) for entry in page.entries]
        assert Warned(what="events_missing", detail="events 1 to 4 never came") in told


async def test_the_isolation_account_is_receipted_when_the_harness_starts(
    broker: LiveBroker,
) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.publish(
            IsolationChecked(mode="M2", checks={"proc_is_fresh": True}),
            HarnessStarted(argv=("opencode",), uid=0),
        )
        started = next(r for r in await broker.records(run.id) if isinstance(r, RunStarted))
        assert (started.isolation, started.checks) == ("M2", {"proc_is_fresh": True})
        assert started.written_output_limit is None


async def test_the_lease_ends_with_the_harness(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.publish(
            HarnessEnded(wait=WaitStatus(exit_code=0), namespace_empty=True)
        )
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 401
        tokens = [r.what for r in await broker.records(run.id) if isinstance(r, TokenIssued)]
        assert tokens == ["enrol_issued", "enrolled", "revoked"]


async def test_a_stale_renewal_ends_the_lease_and_the_stream(broker: LiveBroker) -> None:
    """Two holders of one lease: neither keeps it, and what runs is cut upstream."""

    async def drip(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(say('{"choices":[{"delta":{"content":"a"}}]}')))
        await asyncio.Event().wait()

    async with upstream(drip) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(BODY)}\r\n\r\n"
        )
        writer.write(head.encode() + BODY)
        await reader.readuntil(b"content")
        await run.supervisor.send(Renew(generation=1))
        renewed = await run.supervisor.hear_of(Enrolled)
        assert renewed.generation == 2
        await run.supervisor.send(Renew(generation=1))
        assert "stale_generation" in (await run.supervisor.hear_of(Refused)).why
        await reader.read()
        writer.close()
        assert (await ask(run.directory, BODY, lease=renewed.lease)).status == 401
        ends = [r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd)]
        assert [end.answered.result for end in ends] == ["revoked"]


@pytest.mark.parametrize("line", [b"\x00garbage\n", b'{"type":"renew","generation":1}\n', b"{}\n"])
async def test_garbage_before_enrolment_ends_the_connection(
    broker: LiveBroker, line: bytes
) -> None:
    async with broker.client() as client:
        opened = await client.open_run(order(run=secrets.token_hex(6)))
    path = str(Path(opened.directory) / "control.sock")
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line)
    answer = await reader.read()
    assert answer == b"" or b'"refused"' in answer
    writer.close()
