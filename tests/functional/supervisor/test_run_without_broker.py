"""The broker goes away while the agent runs."""

import asyncio
from pathlib import Path

from fakes.attempt import lay_out
from fakes.fake_broker import FakeBroker
from fakes.file_there import until_there
from functional.supervisor.story import play, told_by
from stanchion.protocol.events import Claimed, TranscriptChanged, VitalsSampled
from stanchion.protocol.evidence import StopReason


async def test_a_cut_in_the_middle_loses_and_repeats_nothing(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = """
import sys
for number in range(200):
    save(text=str(number))
ask()
"""
    async with FakeBroker(attempt.paths.run_dir) as broker:
        answered = broker.model_handler

        async def only_after_a_cut(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            broker.acks = False
            await broker.until(lambda: broker.of(VitalsSampled))
            for other in broker._open - {writer}:
                other.close()
            await broker.until(lambda: len(broker.openings) == 2)
            broker.acks = True
            await answered(reader, writer)

        broker.model_handler = only_after_a_cut
        assert await play(attempt, script)
    assert len(broker.openings) == 2
    said = [item.item.text for item in broker.of(TranscriptChanged)]
    assert said == [str(number) for number in range(200)]
    assert sorted(broker.envelopes) == list(range(1, len(broker.envelopes) + 1))


async def test_a_broker_that_stays_away_ends_the_agent(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, "import time\nsave(text='x')\ntime.sleep(60)"))
        await broker.until(lambda: broker.of(TranscriptChanged))
        await broker.vanish()
        assert not await story
    assert not broker.of(Claimed)


async def test_a_broker_that_comes_back_gets_the_claim_of_its_absence(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    ended = tmp_path / "ended"
    script = (
        f"import atexit, signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(0))\n"
        f"atexit.register(lambda: open('{ended}', 'w').close())\nsave(text='x')\ntime.sleep(60)"
    )
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, script))
        await broker.until(lambda: broker.of(TranscriptChanged))
        await broker.vanish()
        await asyncio.to_thread(until_there, ended, timeout_s=20)
        await broker.listen()
        assert await story
    claim = told_by(broker)
    assert claim.stop is not None
    assert claim.stop.reason is StopReason.BROKER_LOST
    assert claim.verifier is None
