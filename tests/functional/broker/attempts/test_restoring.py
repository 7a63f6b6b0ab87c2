"""Open attempts over a broker that is killed with -9 and started again.

A scenario is a generator: up to its `yield` under the first broker, after it under the second. Many
share one restart, as attempts do.
"""

import asyncio
import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from fakes.launches import KEY, order
from fakes.supervisor import Supervisor, ask
from fakes.upstream import STREAM_HEAD, Received, Upstream, chunk, say, upstream
from functional.broker.attempts.test_closing import BODY, GOOD, play
from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.broker.receipts.ledger import Ledger
from stanchion.protocol.admin import Rehearsal, RunView
from stanchion.protocol.control import Enrolled, ExchangeSeen, StopOrder, WireEvent
from stanchion.protocol.events import ExchangeEnded, RunClosed, Warned, decode_event
from stanchion.protocol.evidence import HostFacts, StopReason
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.launch import ModelRef, SideRequest
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import (
    ClaimRecorded,
    Denied,
    ExchangeEnd,
    HostRecorded,
    RunClose,
    RunStarted,
)
from stanchion.protocol.refusal import RefusedError

Scenario = Callable[[LiveBroker], AsyncGenerator[None, LiveBroker]]


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        yield Path(folder)


async def over_a_kill(root: Path, *scenarios: Scenario, config: str = "version = 1\n") -> str:
    """All scenarios over one kill -9; the log of both brokers."""
    (root / "stanchion.toml").write_text(config)
    options = ("--config", str(root / "stanchion.toml"))
    with live_broker(root, *options) as first:
        under_way = [scenario(first) for scenario in scenarios]
        for one in under_way:
            await anext(one)
        first.kill()
        with live_broker(root, *options) as second:
            for one in under_way:
                with contextlib.suppress(StopAsyncIteration):
                    await one.asend(second)
    return first.paths.log_file.read_text()


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


async def take_up(broker: LiveBroker, run: Enrolment, provider: Upstream | None = None) -> None:
    """What keeper and supervisor do once the next broker is there."""
    before = run.supervisor
    await hang_up(before)
    run.supervisor = Supervisor(run.directory, boot=before.boot, lease=before.lease, seq=before.seq)
    answer = await run.supervisor.resume()
    assert isinstance(answer, Enrolled), answer
    assert answer.acked_seq == before.seq
    if provider is not None:
        async with broker.client() as client:
            await client.present(run.id, Rehearsal(port=provider.port, key=KEY))


async def hang_up(supervisor: Supervisor) -> None:
    with contextlib.suppress(ConnectionError):
        await supervisor.close()


async def bundle_of(broker: LiveBroker, run: Enrolment) -> Verified:
    async with broker.client() as client:
        found = verify(await client.bundle(run.id))
    assert isinstance(found, Verified), found
    return found


def reason(view: RunView) -> EndReason:
    assert view.outcome is not None
    return view.outcome.reason


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


async def test_a_close_that_was_cut_short_is_finished(root: Path) -> None:
    """Of one the host's facts are on record, of the other the signed close too."""
    host = HostFacts(sandbox_exit=0, oom_kills=0)
    async with upstream(GOOD) as provider:
        with live_broker(root) as first:
            async with (
                enrolled(first, provider.port) as one,
                enrolled(first, provider.port) as other,
            ):
                for run in (one, other):
                    await play(run)
                first.kill()
        ledger = await Ledger.open(first.paths.root)
        for run in (one, other):
            book, _ = await ledger.resume(run.id)
            await book.append(ClaimRecorded, asserted_by="sandbox", claim_sha256="ab")
            await book.append(HostRecorded, asserted_by="host", host=host)
        await book.close(
            reason="completed", detail="d", flags=(), grade="graded", score="1.0",
            reward_sha256=None,
        )  # fmt: skip
        signed = book.head
        await ledger.aclose()
    with live_broker(root) as second:
        for run in (one, other):
            view = await second.close(run.id, sandbox_exit=137)
            assert view.score is not None
            assert (view.state, reason(view), view.score.value) == ("closed", "completed", 1.0)
            bundle = await bundle_of(second, run)
            assert bundle.closing is not None
            kinds = [type(record) for record in bundle.records[-3:]]
            assert kinds == [ClaimRecorded, HostRecorded, RunClose]
            assert bundle.head == view.head
            async with second.client() as client:
                page = await client.events(run.id)
            events = [decode_event(entry.event) for entry in page.entries]
            assert [isinstance(event, RunClosed) for event in events].count(True) == 1
            assert page.ended
    assert view.head == signed


async def test_an_attempt_that_nobody_is_heard_of_is_closed_by_name(root: Path) -> None:
    (root / "stanchion.toml").write_text("version = 1\n[broker]\norphan_s = 1\n")
    with live_broker(root, "--config", str(root / "stanchion.toml")) as broker:
        async with enrolled(broker, 9) as run, broker.client() as client:
            connected = await client.run(run.id)
            await run.supervisor.close()
            after = None
            while not (page := await client.events(run.id, after=after, wait_s=30)).ended:
                after = page.cursor
            view = await client.run(run.id)
    assert (connected.connected, view.connected) == (True, None)
    assert view.outcome is not None
    assert view.outcome.reason is EndReason.SANDBOX_LOST
    assert "no supervisor was connected and no launcher reported" in view.outcome.detail


ACCOUNT = """
[profiles.evals.accounts.{name}]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:{name}"
"""


async def test_only_the_frozen_account_pays_after_a_restart(root: Path) -> None:
    """One is as it was, one has another key, one is not configured any more."""
    names = ("kept", "changed", "gone")
    for name in names:
        (root / name).write_text(f"sk-CANARY-{name}")
        (root / name).chmod(0o600)
    config = root / "stanchion.toml"
    async with upstream(GOOD) as provider:

        def scenario(name: str) -> Scenario:
            async def goes_on(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
                terms = {"profile": "evals", "model": ModelRef(account=name, id="fx-coder-1")}
                async with enrolled(first, None, **terms) as run:
                    if name == "gone":
                        (root / "changed").write_text("sk-CANARY-other")
                        config.write_text(config.read_text().replace("accounts.gone", "accounts.x"))
                    second = yield
                    await take_up(second, run)
                    lease = run.supervisor.lease
                    statuses[name] = (await ask(run.directory, BODY, lease=lease)).status
                    if name != "kept":
                        stops[name] = (await run.supervisor.hear_of(StopOrder)).stop

            return goes_on

        statuses, stops = {}, {}
        text = "".join(ACCOUNT.format(name=name, port=provider.port) for name in names)
        scenarios = [scenario(name) for name in names]
        await over_a_kill(root, *scenarios, config=f"version = 1\n{text}")
        (request,) = provider.received
    assert b"Bearer sk-CANARY-kept" in request.head
    assert statuses == {"kept": 200, "changed": 403, "gone": 403}
    for name, stop in stops.items():
        assert stop.reason is StopReason.BROKER_LOST
        assert f"account {name} of profile evals" in stop.detail
    assert set(stops) == {"changed", "gone"}
