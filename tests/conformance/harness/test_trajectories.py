"""Every recorded session of a real harness is a valid ATIF document, whatever came of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.atif_models import validated
from fakes.results import a_result
from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.runner.trajectory.document import trajectory

FOLDER = Path(__file__).parent
RECORDED = sorted(
    [
        *FOLDER.glob("opencode-*/*.json"),
        *FOLDER.glob("claude-code-*/*.json"),
        *FOLDER.glob("codex-*/*.json"),
    ],
    key=lambda path: (path.parent.name, path.name),
)


class Recording(msgspec.Struct):
    """What both kinds of recording have."""

    stdout: list[str]
    rows: list[list[Any]] = []


def replay(path: Path) -> list[TranscriptItem]:
    recording = msgspec.json.decode(path.read_bytes(), type=Recording)
    name = path.parent.name.rpartition("-")[0].replace("-", "_")
    session = adapter(name).session()
    saved = session.rows(recording.rows)
    for line in recording.stdout:
        saved += session.output(line.encode())
    return [one for one in saved if isinstance(one, TranscriptItem)]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_session_is_a_trajectory(path: Path) -> None:
    items = replay(path)
    document = validated(trajectory(a_result(), items, None))

    conversations: list[Any] = [document, *list(document.get("subagent_trajectories") or ())]  # type: ignore[call-overload]  # a list, as was checked
    steps = [step for one in conversations for step in one["steps"]]
    texts = {one.text for one in items if one.kind is ItemKind.USER and one.text}
    assert texts <= {step["message"] for step in steps}
    calls = {one.tool.call_id for one in items if one.tool is not None}
    assert calls == {call["tool_call_id"] for step in steps for call in step.get("tool_calls", ())}
