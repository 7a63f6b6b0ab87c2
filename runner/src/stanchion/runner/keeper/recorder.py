"""The event stream of an attempt, written down as it comes.

Transcript, harness output, verifier output and files that left the sandbox go into the result
folder; durations and the moments that host facts need are kept. Nothing that the sandbox sends is
trusted: paths stay below the folder, sizes are bounded, and no event can stop the recording.
"""

import logging
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.protocol.codec import encode_line
from stanchion.protocol.events import (
    AssertedBy,
    Claimed,
    ConfigWritten,
    Event,
    FileSent,
    HarnessEnded,
    IsolationChecked,
    OutputStream,
    OutputWritten,
    Stage,
    StageChanged,
    StageState,
    StreamEntry,
    TaskListChanged,
    TranscriptChanged,
    Unknown,
    VerifierEnded,
    decode_event,
)
from stanchion.protocol.evidence import Answer, VerifierRun
from stanchion.protocol.transcript import TaskListItem
from stanchion.runner.keeper.artifact_files import ArtifactFiles
from stanchion.runner.results.job_folder import write_json

MAX_LOG_BYTES = 256 * 1024 * 1024
MAX_LISTS = 100
"""Sessions whose list of things to do is kept."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Moments:
    """What the stream said about time and settings. None = it did not."""

    first_event_ms: int | None = None
    agent_ended_ms: int | None = None
    stage_ms: dict[Stage, int] = field(default_factory=dict)
    agent_ms: int | None = None
    verifier_ms: int | None = None
    isolation: str | None = None
    written_output_limit: int | None = None
    written_effort: str | None = None
    answers: tuple[Answer, ...] | None = None

    def take(self, event: Event | Unknown, at_ms: int) -> None:
        """One event, with the broker's clock."""
        match event:
            case StageChanged(stage=stage, state=StageState.COMPLETE, duration_ms=int(duration)):
                self.stage_ms[stage] = duration
            case HarnessEnded():
                self.agent_ended_ms = at_ms
            case VerifierEnded(run=run):
                self.verifier_ms = run.duration_ms
            case Claimed(claim=claim):
                self.agent_ms, self.answers = claim.agent_ms, claim.answers
            case IsolationChecked(mode=mode):
                self.isolation = mode
            case ConfigWritten(output_limit=limit, effort=effort):
                self.written_output_limit, self.written_effort = limit, effort
            case _:
                pass


class Recorder:
    """Writes one attempt's result folder from its events."""

    def __init__(self, folder: Path) -> None:
        self.moments = Moments()
        self._folder = folder
        self._artifacts = ArtifactFiles(folder / "artifacts")
        self._logged: dict[str, int] = {}
        self._lists: dict[str, tuple[TaskListItem, ...]] = {}
        """The agent's own lists of things to do, by session."""
        (folder / "transcript.jsonl").touch()
        (folder / "harness.log").touch()

    def take(self, entry: StreamEntry) -> None:
        """One entry of the stream."""
        if entry.asserted_by is AssertedBy.SANDBOX and self.moments.first_event_ms is None:
            self.moments.first_event_ms = entry.at_ms
        try:
            self._write(decode_event(entry.event))
        except OSError:
            log.exception("event %s could not be written down", entry.cursor)
        self.moments.take(decode_event(entry.event), entry.at_ms)

    def _write(self, event: Event | Unknown) -> None:
        match event:
            case TranscriptChanged(item=item):
                self._append("transcript.jsonl", encode_line(item))
            case TaskListChanged(session=session, items=items):
                self._keep_list(session, items)
            case OutputWritten(stream=OutputStream.VERIFIER, data=data):
                self._append("verifier/output.txt", data)
            case OutputWritten(data=data):
                self._append("harness.log", data)
            case FileSent():
                self._artifacts.take(event)
            case VerifierEnded(run=run):
                self._keep_reward(run)
            case _:
                pass

    def _keep_list(self, session: str, items: tuple[TaskListItem, ...]) -> None:
        if session in self._lists or len(self._lists) < MAX_LISTS:
            self._lists[session] = items
            write_json(self._folder / "tasks.json", self._lists)

    def _append(self, name: str, data: bytes) -> None:
        so_far = self._logged.get(name, 0)
        if so_far >= MAX_LOG_BYTES:
            return
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.write(data)
        self._logged[name] = so_far + len(data)
        if self._logged[name] >= MAX_LOG_BYTES:
            log.warning("%s has reached %d bytes; the rest is left out", name, MAX_LOG_BYTES)

    def _keep_reward(self, run: VerifierRun) -> None:
        if run.reward_text is None:
            return
        name = "reward.json" if run.reward_file == "reward.json" else "reward.txt"
        path = self._folder / "verifier" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(run.reward_text, encoding="utf-8")
