"""Attempts as the broker and their keepers tell of them, with few words."""

from typing import Any

import msgspec
from tests.fakes.receipts import frozen_launch

from stanchion.protocol.admin import EffortSeen, LimitsSeen, RunView
from stanchion.protocol.codec import digest
from stanchion.protocol.outcome import MEANING, EndReason, Grade, Graded, Outcome, Score
from stanchion.protocol.usage import Usage
from stanchion.runner.keeper.notes import Note

OPENED_AT_MS = 100_000


def a_view(attempt: str = "7f3a90c41b22.1", **changes: Any) -> RunView:
    """An open attempt with three requests."""
    launch = frozen_launch()
    view = RunView(
        id=attempt,
        launch_sha256=digest(launch),
        launch=launch,
        state="open",
        directory="/run/s/0a1b2c3d",
        opened_at_ms=OPENED_AT_MS,
        closed_at_ms=None,
        exchanges=3,
        completed=3,
        limits=LimitsSeen(
            declared=128_000,
            source="default",
            written=128_000,
            observed=(128_000,),
            corrected=False,
        ),
        effort=EffortSeen(requested="max", written="max", observed=("max",)),
        reasoning_present=True,
        length_stops=0,
        usage=Usage(input_tokens=10, output_tokens=5),
        models_served=("Qwen/Qwen3",),
        held_ms=0,
        isolation="M2",
        outcome=None,
        graded=None,
        score=None,
        head="d" * 64,
        first_response_ms=1_900,
        calls=3,
        sendings=4,
        ambiguous=0,
    )
    return msgspec.structs.replace(view, **changes)


def a_closed_view(
    attempt: str = "7f3a90c41b22.1", reason: EndReason = EndReason.COMPLETED, **changes: Any
) -> RunView:
    """The same after its end, with the score 1."""
    meaning = MEANING[reason]
    outcome = Outcome(
        reason=reason, detail="as it went", blame=meaning.blame, retry=meaning.retry, flags=()
    )
    told: dict[str, Any] = {
        "state": "closed",
        "closed_at_ms": OPENED_AT_MS + 5_000,
        "outcome": outcome,
        "graded": Graded(grade=Grade.GRADED, reward={"reward": 1.0}),
        "score": Score(value=1.0),
    }
    return a_view(attempt, **(told | changes))


def a_note(attempt: str = "7f3a90c41b22.1", **changes: Any) -> Note:
    """What a keeper leaves on the disk."""
    note = Note(
        attempt=attempt,
        task="hello",
        pid=7,
        identity="boot 1",
        sandbox_id="ab" * 16,
        runsc="/runsc",
        scratch_folder="/s",
        result_folder="/out",
        admin_socket="/a",
        begun_at_ms=OPENED_AT_MS,
        directory="/run/s/0a1b2c3d",
    )
    return msgspec.structs.replace(note, **changes)
