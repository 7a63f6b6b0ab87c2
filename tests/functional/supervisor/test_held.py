"""While the broker holds a request and nothing else runs, deadline and clocks stand still."""

import asyncio
from pathlib import Path

from fakes.attempt import lay_out
from fakes.fake_broker import ANSWER, GOOD, FakeBroker
from fakes.scripted_harness import ScriptedHarness
from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import Claimed, ExchangeEnded, ExchangeHeld, VitalsSampled
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.launch import Deadlines, WatchdogLimits
from stanchion.supervisor.control import Patience
from stanchion.supervisor.run import Story, Timing
from stanchion.supervisor.watch import Rhythm

QUICK = Timing(
    rhythm=Rhythm(tick_s=0.05, vitals_s=0.1, term_s=0.5, pipes_s=1),
    patience=Patience(
        answer_s=2, enrol_s=3, away_s=0.5, first_backoff_s=0.02, longest_backoff_s=0.1
    ),
    flush_s=5,
)
SCRIPT = """
import sys
sys.stdin.read()
ask()
save(step="stop"); save(end="good")
"""
AGENT_S = 2


async def play(folder: Path, *, holding: bool) -> FakeBroker:
    """An agent of 2 s whose one request takes until vitals show more than 3 s of agent time."""
    attempt = lay_out(
        folder,
        deadlines=Deadlines(agent_s=AGENT_S, verifier_s=20),
        watchdog=WatchdogLimits(failing_s=1, silent_s=1),
    )
    async with FakeBroker(attempt.paths.run_dir) as broker:

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            broker.send(ExchangeSeen(exchange=1))
            broker.send(WireEvent(event=ExchangeHeld(exchange=1, holding=holding)))
            await broker.until(lambda: broker.of(Claimed) or _held_ms(broker) > 3_000)
            broker.send(WireEvent(event=ExchangeHeld(exchange=1, holding=False)))
            broker.send(WireEvent(event=ExchangeEnded(exchange=1, answered=GOOD)))
            writer.write(ANSWER)
            await writer.drain()

        broker.model_handler = answer
        harness = ScriptedHarness(SCRIPT)
        story = Story(find_adapter=lambda _: harness, paths=attempt.paths, timing=QUICK)
        assert await story.run()
    return broker


def _held_ms(broker: FakeBroker) -> int:
    return max((sampled.vitals.held_ms for sampled in broker.of(VitalsSampled)), default=0)


async def test_a_hold_longer_than_the_deadline_does_not_end_the_agent(tmp_path: Path) -> None:
    broker = await play(tmp_path, holding=True)

    (claimed,) = broker.of(Claimed)
    assert claimed.claim.stop is None
    assert claimed.claim.wait is not None
    assert claimed.claim.wait.exit_code == 0
    assert any(sampled.vitals.waiting for sampled in broker.of(VitalsSampled))


async def test_the_same_silence_without_a_hold_does(tmp_path: Path) -> None:
    broker = await play(tmp_path, holding=False)

    (claimed,) = broker.of(Claimed)
    assert claimed.claim.stop is not None
    assert claimed.claim.stop.reason in {StopReason.DEADLINE, StopReason.STALLED_SILENT}
