"""The trajectory of an attempt, whole: conversations, evidence and the two-way check. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from stanchion.protocol.call_match import NO_CONVERSATION, CallMatch, match_calls, not_compared
from stanchion.protocol.result import AttemptResult
from stanchion.protocol.transcript import TranscriptItem
from stanchion.runner.trajectory.atif import (
    OWN,
    SCHEMA_VERSION,
    Agent,
    FinalMetrics,
    Step,
    Trajectory,
)
from stanchion.runner.trajectory.joining import NO_RECEIPTS, Joining, join
from stanchion.runner.trajectory.steps import step_of
from stanchion.runner.trajectory.turns import Conversation, conversations
from stanchion.runner.trajectory.wire import Response, Wire, completion_tokens, prompt_tokens

NOTES = (
    "Words are the harness's own record, told by the sandbox; figures and model ids of a step with "
    "an `exchange` are the broker's, from signed receipts."
)


def trajectory(
    result: AttemptResult, items: Iterable[TranscriptItem], wire: Wire | None
) -> Trajectory:
    """`wire` is None where there are no receipts."""
    found = conversations(items)
    joining = Joining() if wire is None else join(found, wire.responses)
    roots = [one for one in found if one.parent is None]
    root, *others = roots or [Conversation(f"{result.run}.{result.attempt}", None)]
    subs = [*others, *(one for one in found if one.parent is not None)]
    agent = Agent(
        name=result.harness.name,
        version=result.harness.version,
        model_name=result.model.partition("/")[2],
    )
    begun = _begun_by(found, subs)
    steps = _steps(root, joining, begun) or [_nothing(result)]
    return Trajectory(
        schema_version=SCHEMA_VERSION,
        session_id=root.session,
        trajectory_id=f"{result.run}.{result.attempt}",
        agent=agent,
        steps=steps,
        notes=NOTES,
        final_metrics=_sums(wire, steps),
        extra={OWN: _evidence(result, found, joining, wire)},
        subagent_trajectories=[
            Trajectory(
                schema_version=SCHEMA_VERSION,
                session_id=one.session,
                trajectory_id=one.session,
                agent=agent,
                steps=_steps(one, joining, begun),
                extra={OWN: {"parent_session": one.parent}},
            )
            for one in subs
        ]
        or None,
    )


def check_calls(found: Sequence[Conversation], wire: Wire | None) -> CallMatch:
    """Tool calls, both ways."""
    if wire is None:
        return not_compared(NO_RECEIPTS)
    if not found:
        return not_compared(NO_CONVERSATION)
    saved = [tool.call_id for one in found for turn in one.agent_turns for _, tool in turn.tools]
    return match_calls(wire.sent_calls, saved)


def _steps(one: Conversation, joining: Joining, begun: Mapping[str, str]) -> list[Step]:
    return [
        step_of(number, turn, joining.of(turn), begun) for number, turn in enumerate(one.turns, 1)
    ]


def _begun_by(found: Sequence[Conversation], subs: Sequence[Conversation]) -> dict[str, str]:
    """Sessions by the call that began them, where the harness names them so."""
    calls = {name for one in found for turn in one.agent_turns for name in turn.call_ids}
    return {one.session: one.session for one in subs if one.session in calls}


def _nothing(result: AttemptResult) -> Step:
    """The format asks for a step."""
    return Step(
        step_id=1,
        source="system",
        message=f"The harness saved nothing of a conversation: {result.outcome.detail}",
    )


def _evidence(
    result: AttemptResult, found: Sequence[Conversation], joining: Joining, wire: Wire | None
) -> dict[str, Any]:
    turns = [turn for one in found for turn in one.agent_turns]
    joined = [joining.of(turn) for turn in turns]
    opening = None if wire is None else wire.opening
    return {
        "run": result.run,
        "attempt": result.attempt,
        "task": result.task,
        "outcome": msgspec.to_builtins(result.outcome),
        "grade": result.grade,
        "score": result.score,
        "reward": result.reward,
        "output_limit": msgspec.to_builtins(result.limits.output_tokens),
        "effort": msgspec.to_builtins(result.effort),
        "image": result.image.verified,
        "launch_sha256": None if opening is None else opening.launch_sha256,
        "receipts_head": result.receipts.head,
        "calls": msgspec.to_builtins(check_calls(found, wire)),
        "turns": len(turns),
        "turns_joined": sum(one.response is not None for one in joined),
        "responses": None if wire is None else len(wire.responses),
        "responses_nobody_saved": (None if wire is None else list(joining.left)),
    }


def _sums(wire: Wire | None, steps: Sequence[Step]) -> FinalMetrics:
    responses: Sequence[Response] = () if wire is None else wire.responses
    answers = [response.answered for response in responses]
    return FinalMetrics(
        total_prompt_tokens=_sum([prompt_tokens(one) for one in answers]),
        total_completion_tokens=_sum([completion_tokens(one) for one in answers]),
        total_cached_tokens=_sum(
            [None if one.usage is None else one.usage.cache_read_tokens for one in answers]
        ),
        total_cost_usd=None,
        total_steps=len(steps),
    )


def _sum(figures: Sequence[int | None]) -> int | None:
    """Unknown where one is, and where there is none."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if figures and len(known) == len(figures) else None
