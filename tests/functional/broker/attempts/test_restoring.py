"""Open attempts over a broker that is killed with -9 and started again."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from fakes.launches import KEY, order
from fakes.supervisor import Supervisor, ask
from fakes.upstream import STREAM_HEAD, Received, chunk, say, upstream
from functional.broker.attempts.over_a_restart import (
    bundle_of,
    hang_up,
    over_a_kill,
    reason,
    take_up,
)
from functional.broker.attempts.test_closing import BODY, GOOD, play
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.admin import Rehearsal
from stanchion.protocol.control import Enrolled, ExchangeSeen, StopOrder, WireEvent
from stanchion.protocol.events import ExchangeEnded, RunClosed, Warned, decode_event
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.launch import SideRequest
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import Denied, ExchangeEnd, RunStarted
from stanchion.protocol.refusal import RefusedError


async def drip(_: Received, writer: asyncio.StreamWriter) -> None:
    """A stream that begins and never ends."""
    writer.write(STREAM_HEAD + chunk(say('{"choices":[{"delta":{"content":"a"}}]}')))
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def asking(run: Enrolment, body: bytes) -> AsyncIterator[asyncio.StreamReader]:
    """A model request of which so much was sent."""
    reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
    writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + body)
    await writer.drain()
    yield reader
    writer.close()


async def killed_in_mid_stream(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with upstream(drip, GOOD) as provider, enrolled(first, provider.port) as run:
        async with asking(run, BODY) as reader:
            await reader.readuntil(b"content")
            second = yield
            assert b"[DONE]" not in await reader.read()
        await take_up(second, run, provider)
        assert await run.supervisor.hear_of(ExchangeSeen) == ExchangeSeen(exchange=1)
        told = (await run.supervisor.hear_of(WireEvent)).event
        assert isinstance(told, ExchangeEnded)
        assert told.answered.result is ExchangeResult.INTERRUPTED
        await play(run)
        view = await second.close(run.id, oom_kills=0)
        bundle = await bundle_of(second, run)
    assert (reason(view), view.exchanges, view.completed) == (EndReason.COMPLETED, 2, 1)
    assert view.usage.output_tokens is None, "what the interrupted one cost is not known"
    ends = [r.answered.result for r in bundle.records if isinstance(r, ExchangeEnd)]
    assert ends == [ExchangeResult.INTERRUPTED, ExchangeResult.COMPLETED]
    assert bundle.unended == ()
    assert bundle.closing is not None
    assert sum(isinstance(record, RunStarted) for record in bundle.records) == 1


async def killed_before_the_request_was_whole(
    first: LiveBroker,
) -> AsyncGenerator[None, LiveBroker]:
    async with upstream(GOOD) as provider, enrolled(first, provider.port) as run:
        async with asking(run, BODY[:9]) as reader:
            second = yield
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
        await take_up(second, run, provider)
        await play(run)
        view = await second.close(run.id)
    assert (reason(view), view.exchanges) == (EndReason.COMPLETED, 1)


async def killed_after_the_claim(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with upstream(GOOD) as provider, enrolled(first, provider.port) as run:
        await play(run)
        async with first.client() as client:
            before = await client.run(run.id)
        second = yield
        async with second.client() as client:
            after = await client.run(run.id)
        view = await second.close(run.id)
        assert view == await second.close(run.id)
    for field in ("exchanges", "completed", "limits", "effort", "usage", "models_served",
                  "reasoning_present", "isolation", "head", "opened_at_ms"):  # fmt: skip
        assert getattr(after, field) == getattr(before, field), field
    assert view.score is not None
    assert (reason(view), view.score.value) == (EndReason.COMPLETED, 1.0)


async def counts_stay(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    """A side request, and a main one whose first sending got no answer."""
    title = SideRequest(name="title", body_contains="A title:", max_output_tokens=100)
    beside = BODY.replace(b"128000", b"100").replace(
        b'"messages":[', b'"metadata":"A title:","messages":['
    )
    async with (
        upstream(GOOD, closes, GOOD) as provider,
        enrolled(first, provider.port, side_requests=(title,)) as run,
    ):
        for body in (beside, BODY):
            assert (await ask(run.directory, body, lease=run.lease)).status == 200
        async with first.client() as client:
            before = await client.run(run.id)
        second = yield
        async with second.client() as client:
            after = await client.run(run.id)
    assert (before.exchanges, before.calls, before.sendings, before.ambiguous) == (2, 2, 3, 1)
    assert (before.completed, before.limits.observed) == (1, (128_000,))
    assert before.usage.output_tokens is None, "what the lost sending cost is not known"
    for field in ("exchanges", "completed", "calls", "sendings", "ambiguous", "limits", "effort",
                  "usage", "length_stops", "reasoning_present", "input_includes_cache",
                  "output_includes_reasoning"):  # fmt: skip
        assert getattr(after, field) == getattr(before, field), field


async def closes(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def waits_for_its_provider(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with upstream(GOOD) as provider, enrolled(first, provider.port) as run:
        second = yield
        async with second.client() as client, asyncio.TaskGroup() as tasks:
            # With the lease of before: nobody had to resume for it.
            asked = tasks.create_task(ask(run.directory, BODY, lease=run.lease))
            for port, key in ((provider.port, "sk-other"), (9, KEY)):
                with pytest.raises(RefusedError) as refused:
                    await client.present(run.id, Rehearsal(port=port, key=key))
                assert refused.value.refusal.id == "rehearsal_differs"
            assert provider.received == []
            for _ in range(2):
                await client.present(run.id, Rehearsal(port=provider.port, key=KEY))
        assert asked.result().status == 200
        assert KEY.encode() not in second.paths.log_file.read_bytes()


async def cancelled(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with enrolled(first, 9) as run:
        async with first.client() as client:
            await client.cancel(run.id)
        second = yield
        await take_up(second, run)
        stop = (await run.supervisor.hear_of(StopOrder)).stop
        assert stop.reason is StopReason.CANCELLED
        assert (await ask(run.directory, BODY, lease=run.supervisor.lease)).status == 401
        await hang_up(run.supervisor)
        assert reason(await second.close(run.id)) is EndReason.CANCELLED


async def stopped_for_a_mismatch(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with upstream(GOOD) as provider, enrolled(first, provider.port) as run:
        other = BODY.replace(b"128000", b"32000")
        assert (await ask(run.directory, other, lease=run.lease)).status == 403
        second = yield
        await take_up(second, run, provider)
        stop = (await run.supervisor.hear_of(StopOrder)).stop
        assert stop.reason is StopReason.MISMATCH
        assert (await ask(run.directory, BODY, lease=run.supervisor.lease)).status == 403
        await hang_up(run.supervisor)
        view = await second.close(run.id)
    assert reason(view) is EndReason.MISMATCH
    assert view.limits.observed == (32_000,)
    assert provider.received == []


async def every_event_once(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with enrolled(first, 9) as run:
        await run.supervisor.publish(Warned(what="w", detail="1"))
        async with first.client() as client:
            page = await client.events(run.id)
        second = yield
        await take_up(second, run)
        # Sent again, because its acknowledgement was lost; and a new one.
        await run.supervisor.publish(Warned(what="w", detail="1"), seq=1)
        await run.supervisor.publish(Warned(what="w", detail="2"), seq=2)
        async with second.client() as client:
            later = await client.events(run.id, after=page.cursor)
            whole = await client.events(run.id)
    assert [decode_event(entry.event) for entry in later.entries] == [Warned(what="w", detail="2")]
    assert whole.entries == (*page.entries, *later.entries)


async def enrolment_without_an_answer(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with first.client() as client:
        opened = await client.open_run(order(run="7f3a90c41b22"))
        ticket = await client.enrol(opened.id)

    async def enrol(boot: str = "boot-1") -> tuple[Supervisor, bool]:
        supervisor = Supervisor(Path(opened.directory), boot=boot)
        answer = await supervisor.enrol(ticket.token, opened.launch_sha256)
        return supervisor, isinstance(answer, Enrolled)

    lost, _ = await enrol()
    second = yield
    thief, admitted = await enrol("boot-2")
    assert not admitted
    again, admitted = await enrol()
    assert admitted
    await again.publish(Warned(what="w", detail="heard"))
    late, admitted = await enrol()
    assert not admitted
    for supervisor in (lost, thief, again, late):
        await hang_up(supervisor)
    denials = [r for r in await second.records(opened.id) if isinstance(r, Denied)]
    assert len(denials) == 2


async def changed_receipts(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with enrolled(first, 9) as run:
        with sqlite3.connect(first.paths.broker_dir / "control.db") as db:
            change = "UPDATE receipts SET line = cast('{}' AS BLOB) WHERE seq = 2 AND attempt = ?"
            db.execute(change, (run.id,))
        db.close()
        second = yield
        async with second.client() as client:
            with pytest.raises(RefusedError):
                await client.run(run.id)
        assert f"{run.id} cannot be taken over" in second.paths.log_file.read_text()


async def directory_is_gone(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
    async with enrolled(first, 9) as run:
        shutil.rmtree(run.directory)
        second = yield
        async with second.client() as client:
            assert run.id not in [view.id for view in await client.runs("open")]
            view = next(view for view in await client.runs("closed") if view.id == run.id)
            page = await client.events(run.id, wait_s=30)
        bundle = await bundle_of(second, run)
    assert reason(view) is EndReason.SANDBOX_LOST
    assert view.outcome is not None
    assert "directory is gone" in view.outcome.detail
    assert bundle.closing is not None
    assert page.ended
    assert isinstance(decode_event(page.entries[-1].event), RunClosed)


async def test_attempts_go_on_after_a_kill(root: Path) -> None:
    log = await over_a_kill(
        root,
        killed_in_mid_stream,
        killed_before_the_request_was_whole,
        killed_after_the_claim,
        counts_stay,
        waits_for_its_provider,
        cancelled,
        stopped_for_a_mismatch,
        every_event_once,
        enrolment_without_an_answer,
        changed_receipts,
        directory_is_gone,
    )
    assert "Traceback" not in log
    assert "unexpected" not in log
