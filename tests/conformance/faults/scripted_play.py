"""Plays a row with the scripted harness: real supervisor, real broker, real provider process.

No sandbox: the harness is a child of this process. What a sandbox does to an agent is shown by the
rows with the real one.
"""

import secrets
from dataclasses import replace
from pathlib import Path

import msgspec

from conformance.faults.acts import JumpingClock, Scene, acting
from conformance.faults.outcome_seen import Seen
from conformance.faults.recording import WANTED, TapedWatchdog, record
from conformance.faults.rows import Row, scale_of, scaled, script_of
from conformance.faults.scripted_agent import HEAD
from fakes.attempt import Attempt, lay_out
from fakes.launches import KEY
from fakes.rehearsal_process import rehearsing, script_in
from fakes.scripted_harness import ScriptedHarness
from functional.broker.live import LiveBroker
from stanchion.protocol.admin import OpenRun, Rehearsal, RunOpenedReply, RunView
from stanchion.protocol.codec import PROTOCOL_VERSION, decode
from stanchion.protocol.launch import Deadlines, FrozenLaunch, Waits, WatchdogLimits
from stanchion.supervisor import watch
from stanchion.supervisor.control import Patience
from stanchion.supervisor.run import Story, Timing
from stanchion.supervisor.watch import Rhythm

TESTS = """#!/bin/bash
mkdir -p "$LOGS/verifier"
if grep -qx right "$ANSWER"; then reward=1; else reward=0; fi
echo $reward > "$LOGS/verifier/reward.txt"
"""
QUICK = Timing(
    rhythm=Rhythm(tick_s=0.1, vitals_s=0.2, term_s=1, pipes_s=1, linger_ms=2_000),
    patience=Patience(
        answer_s=5, enrol_s=10, away_s=3, first_backoff_s=0.05, longest_backoff_s=0.2
    ),
    flush_s=10,
)


if WANTED:
    watch.Watchdog = TapedWatchdog  # type: ignore[misc]  # an instrument: it decides as ever


async def play(row: Row, broker: LiveBroker, folder: Path) -> Seen:
    """The row from its launch to the broker's verdict."""
    with rehearsing(script_in(folder, script_of(row.play)), key=KEY) as port:
        attempt = lay_out(folder / "attempt", test_script=row.play.tests or TESTS)
        opened = await _open(row, broker, attempt, port)
        paths = replace(attempt.paths, run_dir=Path(opened.directory))
        harness = ScriptedHarness(HEAD + (row.play.agent or ""), lies=row.play.lies)
        clock = JumpingClock()
        story = Story(find_adapter=lambda _: harness, paths=paths, clock=clock, timing=QUICK)
        async with acting(row.play.act, Scene(broker, opened.id, story, clock)) as scene:
            await story.run()
        view = await broker.close(opened.id, **scene.host_facts)
        if WANTED:
            async with broker.client() as client:
                taped = TapedWatchdog.made.pop().tape() if TapedWatchdog.made else None
                await record(row, client, view, taped)
    return seen_in(view)


async def _open(row: Row, broker: LiveBroker, attempt: Attempt, port: int) -> RunOpenedReply:
    """The attempt with its files beside the broker's sockets."""
    told = decode(attempt.paths.launch_file.read_bytes(), FrozenLaunch).spec
    answers = told.workspace.answers if row.play.declares_answer else None
    scale = scale_of(row.play)
    spec = msgspec.structs.replace(
        told,
        deadlines=Deadlines(
            agent_s=scaled(row.play.agent_s, scale=scale), verifier_s=row.play.verifier_s
        ),
        waits=Waits(header_wait_s=60, max_wait_s=scaled(row.play.max_wait_s, scale=scale)),
        watchdog=WatchdogLimits(
            failing_s=scaled(900, scale=scale),
            silent_s=scaled(2400, scale=scale),
            stream_live_s=scaled(300, scale=scale),
        ),
        workspace=msgspec.structs.replace(
            told.workspace,
            answers=answers,
            env={**told.workspace.env, "SCALE": str(scale)},
            verifier_env={**told.workspace.verifier_env, "ANSWER": str(attempt.answer)},
        ),
    )
    async with broker.client() as client:
        opened = await client.open_run(
            OpenRun(
                protocol=PROTOCOL_VERSION,
                run=secrets.token_hex(6),
                attempt=1,
                spec=spec,
                rehearsal=Rehearsal(port=port, key=KEY),
            )
        )
        ticket = await client.enrol(opened.id)
    directory = Path(opened.directory)
    (directory / "enrol.token").write_text(ticket.token)
    for name in ("instruction.md", "tests", "workdir"):
        (attempt.paths.run_dir / name).rename(directory / name)
    return opened


def seen_in(view: RunView) -> Seen:
    """The verdict of a closed attempt."""
    outcome, graded, score = view.outcome, view.graded, view.score
    assert outcome is not None, view
    assert graded is not None, view
    assert score is not None, view
    reward = (graded.reward or {}).get("reward")
    return Seen(
        reason=outcome.reason,
        detail=outcome.detail,
        flags=outcome.flags,
        blame=outcome.blame,
        retry=outcome.retry,
        grade=graded.grade,
        score=score.value,
        plain=0.0 if reward is None else reward,
    )
