"""The result of an attempt from what broker, host and stream said. Pure.

Puts together, never decides: outcome, grade and score are the broker's. Only where the broker is
lost does the keeper say so itself, and then everything on the wire is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stanchion.protocol.admin import EffortSeen, LimitsSeen, RunView
from stanchion.protocol.events import Stage
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.launch import LaunchSpec, SandboxKind
from stanchion.protocol.outcome import MEANING, EndReason, Grade
from stanchion.protocol.result import (
    AttemptResult,
    HarnessShown,
    ImageShown,
    LimitsShown,
    OutcomeShown,
    ReceiptsShown,
    SandboxShown,
    Stages,
    UsageShown,
)
from stanchion.runner.keeper.recorder import Moments

SUPERVISOR_STAGES = (
    Stage.LOAD, Stage.ENROL, Stage.GATE, Stage.CONFIGURE, Stage.RELAY, Stage.SPAWN,
)  # fmt: skip
NO_IMAGE = "this kind of sandbox shows the host's own programs"
NO_CLAIM = "the sandbox left no last word about them"
NO_BROKER = "the broker was lost; what it saw is in its own receipts"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the keeper has in hand when an attempt is over."""

    run: str
    attempt: int
    spec: LaunchSpec
    host: HostFacts
    moments: Moments
    bundle: str | None
    """Absolute path of the receipts, if they could be fetched."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What there is to say about the task, by field."""


def document(kept: Kept, view: RunView) -> AttemptResult:
    """The result of an attempt that the broker closed."""
    outcome, graded, score = view.outcome, view.graded, view.score
    if outcome is None or graded is None or score is None:
        raise ValueError(f"the broker's answer for {view.id} lacks an outcome")
    why = {"score": score.why, "grade": graded.why}
    return _document(
        kept,
        outcome=OutcomeShown(
            reason=outcome.reason,
            detail=outcome.detail,
            blame=outcome.blame,
            retry=outcome.retry,
            flags=outcome.flags,
        ),
        grade=graded.grade,
        score=score.value,
        reward=graded.reward,
        view=view,
        why=why,
    )


def broker_lost(kept: Kept, detail: str) -> AttemptResult:
    """The result where the broker stayed away: nobody can say what was on the wire."""
    meaning = MEANING[EndReason.BROKER_LOST]
    return _document(
        kept,
        outcome=OutcomeShown(
            reason=EndReason.BROKER_LOST,
            detail=detail,
            blame=meaning.blame,
            retry=meaning.retry,
            flags=(),
        ),
        grade=Grade.NOT_RUN,
        score=None,
        reward=None,
        view=None,
        why={"score": NO_BROKER, "limits.output_tokens.observed": NO_BROKER},
    )


def _document(
    kept: Kept,
    *,
    outcome: OutcomeShown,
    grade: Grade,
    score: float | None,
    reward: dict[str, float] | None,
    view: RunView | None,
    why: dict[str, str | None],
) -> AttemptResult:
    spec = kept.spec
    why = {**kept.notes, **why}
    if kept.moments.answers is None:
        declared = spec.workspace.answers is not None
        why["answers"] = NO_CLAIM if declared else "the task declares none"
    why |= {"sandbox.oom_kills": kept.host.oom_kills_why, "usage.cost": "no price is configured"}
    if kept.host.limits_enforced is False:
        why["sandbox.limits_enforced"] = kept.host.oom_kills_why
    if spec.sandbox.kind is SandboxKind.PROCESS:
        why["image.verified"] = NO_IMAGE
    return AttemptResult(
        run=kept.run,
        attempt=kept.attempt,
        task=spec.task.name,
        model=f"{spec.model.account}/{spec.model.id}",
        outcome=outcome,
        grade=grade,
        score=score,
        reward=reward,
        limits=LimitsShown(output_tokens=view.limits if view else _limits(kept)),
        effort=view.effort if view else _effort(kept),
        reasoning_present=view.reasoning_present if view else None,
        length_stops=view.length_stops if view else None,
        usage=usage_of(view),
        stages=stages_of(kept, view),
        sandbox=SandboxShown(
            kind=spec.sandbox.kind,
            isolation=(view.isolation if view else None) or kept.moments.isolation,
            network=spec.sandbox.network,
            limits_enforced=kept.host.limits_enforced,
            oom_kills=kept.host.oom_kills,
        ),
        image=ImageShown(
            requested=spec.image.requested, base=spec.image.base, verified=spec.image.verified
        ),
        harness=HarnessShown(name=spec.harness.name, version=spec.harness.version),
        receipts=ReceiptsShown(
            head=view.head if view else None,
            exchanges=view.exchanges if view else 0,
            bundle=kept.bundle,
            calls=view.calls if view else None,
            sendings=view.sendings if view else None,
            ambiguous=view.ambiguous if view else None,
        ),
        answers=kept.moments.answers,
        why={path: reason for path, reason in why.items() if reason is not None},
    )


def _limits(kept: Kept) -> LimitsSeen:
    declared = kept.spec.limits.output_tokens
    return LimitsSeen(
        declared=declared.value if declared else None,
        source=declared.source if declared else None,
        written=kept.moments.written_output_limit,
        observed=(),
        corrected=False,
    )


def _effort(kept: Kept) -> EffortSeen:
    return EffortSeen(
        requested=kept.spec.effort.word, written=kept.moments.written_effort, observed=()
    )


def usage_of(view: RunView | None) -> UsageShown:
    """Sums over all responses, as the broker has them."""
    usage = view.usage if view else None
    return UsageShown(
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        cost=None,
        input_includes_cache=view.input_includes_cache if view else None,
        output_includes_reasoning=view.output_includes_reasoning if view else None,
    )


def stages_of(kept: Kept, view: RunView | None) -> Stages:
    """Durations, as far as they are known."""
    moments, stage_ms = kept.moments, kept.moments.stage_ms
    own = [stage_ms.get(stage) for stage in SUPERVISOR_STAGES]
    known = [duration for duration in own if duration is not None]
    agent_ms = stage_ms.get(Stage.AGENT, moments.agent_ms)
    verify_ms = stage_ms.get(Stage.VERIFY, moments.verifier_ms)
    return Stages(
        sandbox_start_s=_seconds(kept.host.sandbox_start_ms),
        supervisor_start_s=_seconds(sum(known) if len(known) == len(own) else None),
        first_response_s=_seconds(view.first_response_ms if view else None),
        agent_s=_seconds(agent_ms),
        held_s=_seconds(view.held_ms if view else None),
        verify_s=_seconds(verify_ms),
        total_s=_seconds(kept.host.total_ms),
    )


def _seconds(duration_ms: int | None) -> float | None:
    return None if duration_ms is None else round(duration_ms / 1000, 3)
