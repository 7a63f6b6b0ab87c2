"""Builds what is shown of an attempt from its live state. Pure; nothing secret is in reach."""

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.verdict import Verdict
from stanchion.protocol.admin import EffortSeen, LimitsSeen, RunView
from stanchion.protocol.overview import AttemptVitals


def view_of(attempt: Attempt, *, closed_at_ms: int | None, verdict: Verdict | None) -> RunView:
    """Everything the broker knows of it."""
    terms, wire, story, spec = attempt.terms, attempt.wire, attempt.story, attempt.spec
    limit, written = spec.limits.output_tokens, story.written
    first = wire.first_completed_at_ms
    return RunView(
        id=terms.id,
        launch_sha256=terms.launch_sha256,
        launch=terms.launch,
        state="open" if closed_at_ms is None else "closed",
        directory=str(terms.directory),
        opened_at_ms=terms.opened_at_ms,
        closed_at_ms=closed_at_ms,
        exchanges=wire.exchanges,
        completed=wire.completed,
        limits=LimitsSeen(
            declared=None if limit is None else limit.value,
            source=None if limit is None else limit.source,
            written=None if written is None else written.output_limit,
            observed=tuple(wire.limits),
            corrected=wire.limit_corrected,
        ),
        effort=EffortSeen(
            requested=spec.effort.word,
            written=None if written is None else written.effort,
            observed=tuple(wire.efforts),
        ),
        reasoning_present=wire.reasoning_present,
        length_stops=wire.length_stops,
        usage=wire.usage,
        models_served=tuple(wire.models_served),
        held_ms=attempt.held_ms,
        isolation=story.isolation,
        outcome=None if verdict is None else verdict.outcome,
        graded=None if verdict is None else verdict.graded,
        score=None if verdict is None else verdict.score,
        head=attempt.book.head,
        first_response_ms=None if first is None else first - terms.opened_at_ms,
        connected=None if closed_at_ms is not None else attempt.tell is not None,
        heard_at_ms=attempt.heard_at_ms,
        calls=wire.calls,
        sendings=wire.sendings,
        ambiguous=wire.ambiguous,
        input_includes_cache=wire.input_includes_cache,
        output_includes_reasoning=wire.output_includes_reasoning,
    )


def vitals_of(
    attempt: Attempt, *, closed_at_ms: int | None, verdict: Verdict | None
) -> AttemptVitals:
    """Where it stands, in a few words."""
    story, is_open = attempt.story, closed_at_ms is None
    return AttemptVitals(
        id=attempt.terms.id,
        task=attempt.spec.task.name,
        state="open" if is_open else "closed",
        stage=story.stage,
        stage_state=story.stage_state,
        vitals=story.vitals,
        vitals_at_ms=story.vitals_at_ms,
        connected=attempt.tell is not None if is_open else None,
        heard_at_ms=attempt.heard_at_ms,
        reason=None if verdict is None else verdict.outcome.reason,
        score=None if verdict is None else verdict.score.value,
    )
