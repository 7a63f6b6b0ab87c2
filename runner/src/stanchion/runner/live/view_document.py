"""An attempt as the broker tells it, in the form of a result. Pure.

For attempts whose result file is not at hand, or not written yet. What only the keeper's file has
stays null with the reason.
"""

import msgspec

from stanchion.protocol.admin import RunView
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.result import (
    AttemptResult,
    HarnessShown,
    ImageShown,
    LimitsShown,
    OpenAttempt,
    ReceiptsShown,
    SandboxShown,
)
from stanchion.runner.keeper.recorder import Moments
from stanchion.runner.keeper.result_document import Kept, document, stages_of, usage_of
from stanchion.runner.live.amounts import duration
from stanchion.runner.live.board import Board
from stanchion.runner.results.wire_picture import WirePicture

NO_BUNDLE = "they are at the broker: GET /v1/runs/ID/bundle"


def shown(
    view: RunView, moments: Moments, wire: WirePicture, board: Board, *, now_ms: int
) -> AttemptResult | OpenAttempt:
    """What is known now."""
    run, _, number = view.id.partition(".")
    kept = Kept(
        run=run,
        attempt=int(number),
        spec=view.launch.spec,
        host=wire.host.host if wire.host else HostFacts(oom_kills_why="not at the broker yet"),
        moments=moments,
        bundle=None,
    )
    if view.outcome is None:
        return _open(kept, view, board, now_ms)
    result = document(kept, view)
    return msgspec.structs.replace(result, why={**result.why, "receipts.bundle": NO_BUNDLE})


def _open(kept: Kept, view: RunView, board: Board, now_ms: int) -> OpenAttempt:
    spec = kept.spec
    return OpenAttempt(
        run=kept.run,
        attempt=kept.attempt,
        task=spec.task.name,
        model=f"{spec.model.account}/{spec.model.id}",
        now=_now(view, board, now_ms),
        limits=LimitsShown(output_tokens=view.limits),
        effort=view.effort,
        reasoning_present=view.reasoning_present,
        length_stops=view.length_stops,
        usage=usage_of(view),
        stages=stages_of(kept, view),
        sandbox=SandboxShown(
            kind=spec.sandbox.kind,
            isolation=view.isolation,
            network=spec.sandbox.network,
            limits_enforced=None,
            oom_kills=None,
        ),
        image=ImageShown(
            requested=spec.image.requested, base=spec.image.base, verified=spec.image.verified
        ),
        harness=HarnessShown(name=spec.harness.name, version=spec.harness.version),
        receipts=ReceiptsShown(
            head=view.head,
            exchanges=view.exchanges,
            bundle=None,
            calls=view.calls,
            sendings=view.sendings,
            ambiguous=view.ambiguous,
        ),
        why={"score": "it has not ended", "sandbox.oom_kills": "it has not ended"},
    )


def _now(view: RunView, board: Board, now_ms: int) -> str:
    age = board.progress_age_ms(now_ms)
    progress = "no progress yet" if age is None else f"last progress {duration(age)} ago"
    waiting = " · waiting: the broker holds a request" if board.held else ""
    return (
        f"{board.stage or 'opened'} · for {duration(now_ms - view.opened_at_ms)} · {progress}"
        f"{waiting}"
    )
