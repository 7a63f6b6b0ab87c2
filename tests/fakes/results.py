"""Results of attempts as a runner writes them, with few words."""

from typing import Any

import msgspec

from stanchion.protocol.admin import EffortSeen, LimitsSeen
from stanchion.protocol.outcome import MEANING, EndReason, Grade
from stanchion.protocol.result import (
    AttemptResult,
    HarnessShown,
    ImageShown,
    LimitsShown,
    OpenAttempt,
    OutcomeShown,
    ReceiptsShown,
    SandboxShown,
    Stages,
    UsageShown,
)


def a_result(
    reason: EndReason = EndReason.COMPLETED, *, score: float | None = 1.0, **changes: Any
) -> AttemptResult:
    """A plausible result that ended so."""
    meaning = MEANING[reason]
    result = AttemptResult(
        run="7f3a90c41b22",
        attempt=1,
        task="hello",
        model="main/future-9",
        outcome=OutcomeShown(
            reason=reason, detail="as it went", blame=meaning.blame, retry=meaning.retry, flags=()
        ),
        grade=Grade.GRADED,
        score=score,
        reward={"reward": 1.0 if score is None else score},
        limits=LimitsShown(
            output_tokens=LimitsSeen(
                declared=128_000,
                source="default",
                written=128_000,
                observed=(128_000,),
                corrected=False,
            )
        ),
        effort=EffortSeen(requested="max", written="max", observed=("max",)),
        reasoning_present=True,
        length_stops=0,
        usage=UsageShown(input_tokens=10, output_tokens=5, reasoning_tokens=None, cost=None),
        stages=Stages(
            sandbox_start_s=0.3,
            supervisor_start_s=0.3,
            first_response_s=1.9,
            agent_s=4.1,
            held_s=0.0,
            verify_s=0.2,
            total_s=5.2,
        ),
        sandbox=SandboxShown(
            kind="runsc", isolation="M2", network="none", limits_enforced=True, oom_kills=0
        ),
        image=ImageShown(requested=None, base="debian", verified="c" * 64),
        harness=HarnessShown(name="opencode", version="1.18.33"),
        receipts=ReceiptsShown(
            head="d" * 64,
            exchanges=3,
            bundle="/out/receipts.bundle",
            calls=3,
            sendings=4,
            ambiguous=0,
        ),
    )
    return msgspec.structs.replace(result, **changes)


def an_open_attempt(**changes: Any) -> OpenAttempt:
    """The same while it runs."""
    result = a_result()
    names = {"run", "attempt", "task", "model", "limits", "effort", "reasoning_present"}
    names |= {"length_stops", "usage", "stages", "sandbox", "image", "harness", "receipts"}
    fields = {name: getattr(result, name) for name in names}
    return OpenAttempt(**{"now": "agent · for 3 s", **fields, **changes})
