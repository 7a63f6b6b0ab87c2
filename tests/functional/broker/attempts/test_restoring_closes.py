"""Attempts whose close was cut short by a restart, or that nobody closes any more."""

from pathlib import Path

from fakes.upstream import upstream
from functional.broker.attempts.over_a_restart import bundle_of, reason
from functional.broker.attempts.test_closing import GOOD, play
from functional.broker.live import enrolled, live_broker
from stanchion.broker.receipts.ledger import Ledger
from stanchion.protocol.events import RunClosed, decode_event
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import ClaimRecorded, HostRecorded, RunClose


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
