"""A result from what broker, host and stream said."""

from dataclasses import replace

import msgspec
import pytest
from tests.fakes.samples import sample

from stanchion.protocol.admin import RunView
from stanchion.protocol.events import Stage
from stanchion.protocol.evidence import Answer, AnswerState, HostFacts
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.outcome import EndReason, Grade
from stanchion.runner.keeper.recorder import Moments
from stanchion.runner.keeper.result_document import Kept, broker_lost, document

SPEC = sample(LaunchSpec)
KEPT = Kept(
    run="7f3a90c41b22",
    attempt=1,
    spec=SPEC,
    host=HostFacts(
        sandbox_exit=0, oom_kills=0, limits_enforced=True, sandbox_start_ms=312, total_ms=5200
    ),
    moments=Moments(
        stage_ms={
            Stage.LOAD: 1, Stage.ENROL: 2, Stage.GATE: 3, Stage.CONFIGURE: 4, Stage.RELAY: 5,
            Stage.SPAWN: 85, Stage.AGENT: 4100,
        },
        verifier_ms=200,
        isolation="M2",
        written_output_limit=64_000,
        written_effort="high",
    ),
    bundle="/out/receipts.bundle",
)  # fmt: skip


def test_the_brokers_word_on_outcome_and_wire_is_passed_on() -> None:
    view = sample(RunView)
    result = document(KEPT, view)

    assert view.outcome is not None
    assert view.score is not None
    assert result.outcome.reason is view.outcome.reason
    assert (result.score, result.limits.output_tokens) == (view.score.value, view.limits)
    assert (result.receipts.head, result.receipts.bundle) == (view.head, "/out/receipts.bundle")
    assert result.usage.cost is None
    assert "usage.cost" in result.why


def test_durations_are_seconds_and_the_supervisors_stages_one_sum() -> None:
    stages = document(KEPT, sample(RunView)).stages

    assert (stages.sandbox_start_s, stages.supervisor_start_s) == (0.312, 0.1)
    assert (stages.agent_s, stages.verify_s, stages.total_s) == (4.1, 0.2, 5.2)


def test_a_stage_that_never_ended_makes_the_sum_unknown() -> None:
    kept = replace(KEPT, moments=Moments(stage_ms={Stage.LOAD: 1}))
    stages = document(kept, sample(RunView)).stages

    assert (stages.supervisor_start_s, stages.agent_s, stages.verify_s) == (None, None, None)


def test_a_lost_broker_leaves_no_score_and_nothing_seen_on_the_wire() -> None:
    result = broker_lost(replace(KEPT, bundle=None), "away for 120 s")

    assert (result.outcome.reason, result.outcome.detail) == (
        EndReason.BROKER_LOST,
        "away for 120 s",
    )
    assert (result.score, result.grade, result.reward) == (None, Grade.NOT_RUN, None)
    limit = result.limits.output_tokens
    assert (limit.written, limit.observed) == (64_000, ())
    assert (result.effort.written, result.effort.observed) == ("high", ())
    assert (result.receipts.head, result.receipts.bundle) == (None, None)
    assert result.stages.held_s is None
    assert "score" in result.why
    assert result.sandbox.isolation == "M2"


def test_an_open_attempt_has_no_result() -> None:
    view = msgspec.structs.replace(sample(RunView), outcome=None)
    with pytest.raises(ValueError, match="lacks an outcome"):
        document(KEPT, view)


def test_notes_about_the_task_stand_beside_the_nulls_and_never_hide_a_reason() -> None:
    notes = {"sandbox.storage_mb": "not limited", "grade": "a note"}
    result = document(replace(KEPT, notes=notes), sample(RunView))

    assert result.sandbox.storage_mb is None
    assert result.why["sandbox.storage_mb"] == "not limited"
    assert result.why["grade"] != "a note"


def test_answers_are_the_sandboxs_claim_or_unknown_with_the_reason() -> None:
    answers = (Answer(path="/work/a", state=AnswerState.LOST),)
    kept = replace(KEPT, moments=replace(KEPT.moments, answers=answers))
    assert document(kept, sample(RunView)).answers == answers

    assert "no last word" in document(KEPT, sample(RunView)).why["answers"]
    undeclared = msgspec.structs.replace(
        SPEC, workspace=msgspec.structs.replace(SPEC.workspace, answers=None)
    )
    result = document(replace(KEPT, spec=undeclared), sample(RunView))
    assert (result.answers, result.why["answers"]) == (None, "the task declares none")
