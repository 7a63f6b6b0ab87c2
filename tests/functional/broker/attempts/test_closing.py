"""An attempt from its opening to its signed close, and where the key is afterwards: nowhere."""

import secrets
import tempfile
from pathlib import Path

import pytest

from fakes.launches import KEY, order
from fakes.supervisor import ask
from fakes.upstream import response, say, stream, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.events import (
    Claimed,
    ConfigWritten,
    HarnessEnded,
    HarnessStarted,
    IsolationChecked,
    RunClosed,
    VerifierEnded,
    decode_event,
)
from stanchion.protocol.evidence import Claim, SessionEnd, SessionState, VerifierRun, WaitStatus
from stanchion.protocol.outcome import EndReason, Flag, Grade
from stanchion.protocol.receipt import ClaimRecorded, HostRecorded, RunClose
from stanchion.protocol.refusal import RefusedError

BODY = (
    b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true,'
    b'"messages":[]}'
)
GOOD = stream(
    say('{"model":"fx-coder-1","choices":[{"delta":{"reasoning_content":"hm","content":"ok"}}]}'),
    say('{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
    say(
        '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":30,'
        '"completion_tokens_details":{"reasoning_tokens":20}}}',
        "[DONE]",
    ),
)


async def play(run: Enrolment) -> None:
    """A supervisor's story of a good attempt with one model request."""
    await run.supervisor.publish(
        ConfigWritten(
            model="fx-coder-1", base_url="http://127.0.0.1:1", output_limit=128_000,
            context=None, effort="max",
        ),
        IsolationChecked(mode="M2", checks={"proc_is_fresh": True}),
        HarnessStarted(argv=("opencode",), uid=0),
    )  # fmt: skip
    assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
    verifier = VerifierRun(
        wait=WaitStatus(exit_code=0), timed_out=False, reward_text="1\n",
        reward_file="reward.txt", duration_ms=5,
    )  # fmt: skip
    await run.supervisor.publish(
        HarnessEnded(wait=WaitStatus(exit_code=0), namespace_empty=True),
        VerifierEnded(run=verifier),
        Claimed(
            claim=Claim(
                wait=WaitStatus(exit_code=0),
                session=SessionEnd(state=SessionState.GOOD, steps=1),
                isolation="M2",
                verifier=verifier,
            )
        ),
    )
    await run.supervisor.close()


async def test_a_good_attempt_closes_with_its_score_and_a_bundle_that_verifies(
    broker: LiveBroker,
) -> None:
    async with upstream(GOOD) as provider, enrolled(broker, provider.port) as run:
        await play(run)
        view = await broker.close(run.id, oom_kills=0)
        assert view.outcome is not None
        assert view.graded is not None
        assert view.score is not None
        assert (view.state, view.outcome.reason) == ("closed", EndReason.COMPLETED)
        assert (view.graded.grade, view.score.value) == (Grade.GRADED, 1.0)
        assert view.limits.declared == view.limits.written == 128_000
        assert view.limits.observed == (128_000,)
        assert view.effort.observed == ("max",)
        assert (view.exchanges, view.completed, view.reasoning_present) == (1, 1, True)
        assert (view.usage.output_tokens, view.usage.reasoning_tokens) == (30, 20)
        assert view.usage.cache_read_tokens is None
        assert view.models_served == ("fx-coder-1",)
        assert view.isolation == "M2"
        assert view.first_response_ms is not None
        async with broker.client() as client:
            bundle = verify(await client.bundle(run.id))
        assert isinstance(bundle, Verified)
        *_, claim, host, close = bundle.records
        assert isinstance(claim, ClaimRecorded)
        assert isinstance(host, HostRecorded)
        assert isinstance(close, RunClose)
        assert (close.reason, close.score, close.exchanges) == ("completed", "1.0", 1)
        assert view.head == bundle.head


async def test_closing_again_answers_the_same(broker: LiveBroker) -> None:
    async with upstream(GOOD) as provider, enrolled(broker, provider.port) as run:
        await play(run)
        first = await broker.close(run.id)
        assert await broker.close(run.id, sandbox_exit=137) == first
        with pytest.raises(RefusedError, match="an open attempt"):
            async with broker.client() as client:
                await client.enrol(run.id)
        assert not (run.directory / "model.sock").exists()


async def test_the_event_stream_ends_with_the_close(broker: LiveBroker) -> None:
    async with upstream(GOOD) as provider, enrolled(broker, provider.port) as run:
        await play(run)
        view = await broker.close(run.id)
        async with broker.client() as client:
            page = await client.events(run.id)
            last = decode_event(page.entries[-1].event)
            assert isinstance(last, RunClosed)
            assert last.head == view.head
            assert page.ended
            later = await client.events(run.id, after=page.cursor, wait_s=30)
            assert (later.entries, later.ended) == ((), True)


async def test_an_attempt_without_a_last_record_is_lost_never_scored(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        await run.supervisor.close()
        view = await broker.close(run.id, sandbox_exit=2)
        assert view.outcome is not None
        assert view.score is not None
        assert view.outcome.reason is EndReason.SANDBOX_LOST
        assert view.score.value is None


async def test_the_key_is_in_no_file_of_the_state() -> None:
    """Echoed by the provider in body and header, and in plain at every border of the broker."""
    echo = response(
        401,
        b'{"error":{"message":"bad key %b","code":"invalid_api_key"}}' % KEY.encode(),
        headers=[("x-request-id", KEY)],
    )
    garbage = response(200, b"not json " + KEY.encode(), headers=[("retry-after", KEY)])
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        with live_broker(root) as broker:
            async with upstream(echo, garbage) as provider, enrolled(broker, provider.port) as run:
                await ask(run.directory, BODY, lease=run.lease)
                await ask(run.directory, BODY, lease=run.lease)
                lease = run.lease
                await run.supervisor.close()
                view = await broker.close(run.id)
                assert view.outcome is not None
                assert Flag.SECRET_SCRUBBED in view.outcome.flags
                async with broker.client() as client:
                    await client.events(run.id)
                    with pytest.raises(RefusedError):
                        await client.open_run(order(0, run=secrets.token_hex(6)))
        for name, data in _files(root):
            assert KEY.encode() not in data, name
            assert lease.encode() not in data, name


def _files(root: Path) -> list[tuple[str, bytes]]:
    """All that is left of a broker: databases, keys, log, output."""
    found = [(path.name, path.read_bytes()) for path in root.rglob("*") if path.is_file()]
    assert {"control.db", "events.db", "broker.log", "output.txt"} <= {name for name, _ in found}
    return found


async def test_a_cancelled_attempt_is_cancelled_whatever_it_claims(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        async with broker.client() as client:
            await client.cancel(run.id)
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 401
        await run.supervisor.close()
        view = await broker.close(run.id)
        assert view.outcome is not None
        assert view.outcome.reason is EndReason.CANCELLED
