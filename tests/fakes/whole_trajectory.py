"""The trajectory that a real run leaves behind: valid, every turn joined, every call matched."""

from pathlib import Path
from typing import Any

from fakes.atif_models import models, validated
from stanchion.protocol.result import AttemptResult
from stanchion.runner.trajectory.files import TRAJECTORY, read_trajectory


def assert_whole_trajectory(result: AttemptResult) -> dict[str, Any]:
    """The document, for more."""
    assert result.receipts.bundle is not None
    folder = Path(result.receipts.bundle).parent
    models().Trajectory.model_validate_json((folder / TRAJECTORY).read_text())
    document: dict[str, Any] = validated(read_trajectory(folder))
    found = document["extra"]["stanchion"]
    calls = found["calls"]
    assert calls["sent"], "a run that called no tool shows nothing"
    assert (calls["by_id"], calls["nobody_sent"], calls["nobody_saved"]) == (True, 0, 0), calls
    assert found["turns_joined"] == found["turns"] == found["responses"]
    assert found["responses_nobody_saved"] == []
    assert "unmatched_calls" not in result.outcome.flags
    return document
