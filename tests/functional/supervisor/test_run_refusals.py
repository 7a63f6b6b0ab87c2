"""What keeps an agent from starting at all."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from fakes.attempt import lay_out
from fakes.fake_broker import FakeBroker
from fakes.scripted_harness import ScriptedHarness, ScriptedSession
from functional.supervisor.story import QUICK, WORKS, play, told_by
from stanchion.harness_adapters.base import Plan, Settings
from stanchion.protocol.events import HarnessStarted, Stage, StageChanged, StageState, VerifierEnded
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.launch import Effort, Limits, Workspace
from stanchion.supervisor.control import EnrolError
from stanchion.supervisor.run import Story


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"limits": Limits(output_tokens=None)}, "limit_missing"),
        ({"effort": Effort(word="enormous")}, "effort_unknown"),
        ({"protocol": 99}, "protocol_differs"),
    ],
)
async def test_a_refusal_is_a_claim_and_the_harness_never_starts(
    tmp_path: Path, changes: dict[str, Any], refusal: str
) -> None:
    attempt = lay_out(tmp_path, **changes)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS)
    claim = told_by(broker)
    assert claim.refusal is not None
    assert claim.refusal.id == refusal
    assert not broker.of(HarnessStarted)
    assert not broker.of(VerifierEnded)
    failed = [e for e in broker.of(StageChanged) if e.state is StageState.FAILED]
    assert [event.stage for event in failed] == [Stage.GATE]


async def test_a_configuration_that_says_something_else_is_refused(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS, lies={"output_limit": 32000})
    claim = told_by(broker)
    assert claim.refusal is not None
    assert (claim.refusal.id, claim.refusal.value) == ("config_differs", "32000")
    assert not broker.of(HarnessStarted)


async def test_an_order_before_the_start_keeps_the_harness_from_starting(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    harness = ScriptedHarness(WORKS)
    stop = Stop(reason=StopReason.CANCELLED, detail="at once")
    async with FakeBroker(attempt.paths.run_dir) as broker:
        story = Story(find_adapter=lambda _: harness, paths=attempt.paths, timing=QUICK)
        story.stop(stop)
        assert await story.run()
    claim = told_by(broker)
    assert (claim.stop, claim.wait, claim.verifier) == (stop, None, None)
    assert not broker.of(HarnessStarted)
    assert not attempt.answer.exists()


async def test_a_harness_that_cannot_be_executed_is_an_end_with_a_reason(tmp_path: Path) -> None:
    workspace = Workspace(workdir=str(tmp_path / "work"), env={"TOO_LONG": "x" * 10_000_000})
    attempt = lay_out(tmp_path, workspace=workspace)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS)
    claim = told_by(broker)
    assert (claim.refusal, claim.wait) == (None, None)
    assert claim.wait_why is not None
    assert "Argument list too long" in claim.wait_why


async def test_a_supervisor_that_cannot_hide_its_folder_refuses(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)

    class Saboteur(ScriptedHarness):
        def session(self) -> ScriptedSession:
            raise AssertionError("the harness must not start")

        def plan(self, settings: Settings) -> Plan:
            shutil.rmtree(attempt.paths.run_dir)
            return super().plan(settings)

    async with FakeBroker(attempt.paths.run_dir) as broker:
        story = Story(find_adapter=lambda _: Saboteur(WORKS), paths=attempt.paths, timing=QUICK)
        assert await story.run()
    claim = told_by(broker)
    assert claim.refusal is not None, claim
    assert claim.refusal.id == "isolation_failed"


async def test_without_enrolment_there_is_no_attempt(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        broker.refuse = "token used"
        with pytest.raises(EnrolError, match="token used"):
            await play(attempt, WORKS)
    assert not broker.events
