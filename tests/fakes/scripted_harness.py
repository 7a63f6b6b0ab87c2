"""A harness that is a Python script given by the test, with the adapter for it.

It is told its address in a file, saves steps as JSON lines on its output (or as rows of a SQLite
log), and ends as the script says.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stanchion.harness_adapters.base import (
    Plan,
    PlannedFile,
    Saved,
    Settings,
    SqliteStore,
    TaskListSaved,
    Written,
)
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.launch import Correction, SideRequest
from stanchion.protocol.transcript import ItemKind, TaskListItem, ToolUse, TranscriptItem

ASK = """
import json, os, urllib.request
def ask(text="hello"):
    settings = json.load(open(os.environ["SETTINGS"]))
    request = urllib.request.Request(settings["base_url"] + "/v1/chat/completions",
        data=json.dumps({"say": text}).encode(), headers={"Authorization": "Bearer placeholder"})
    return urllib.request.urlopen(request, timeout=10).read()
def save(**what):
    print(json.dumps(what), flush=True)
"""


class ScriptedSession:
    """Reads `{"step": word, "counts": …, "session": …}`, `{"text": …}`, `{"tool": …}`,
    `{"todo": …}`, `{"end": state}`; ignores the rest."""

    def __init__(self) -> None:
        self._state = SessionState.UNKNOWN
        self._steps = 0

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        return [saved for row in rows for saved in self._read(str(row[1]), str(row[0]))]

    def output(self, line: bytes) -> list[Saved]:
        return self._read(line.decode("utf-8", "replace"), str(self._steps))

    def end(self) -> SessionEnd:
        return SessionEnd(state=self._state, steps=self._steps)

    def _read(self, text: str, name: str) -> list[Saved]:
        if text == "raise":
            raise RuntimeError("a reader with a bug")
        try:
            said = json.loads(text)
        except ValueError:
            return []
        return self._saved(said, name) if isinstance(said, dict) else []

    def _saved(self, said: dict[str, Any], name: str) -> list[Saved]:
        self._state = SessionState(said.get("end", SessionState.MID_TURN))
        if "step" in said:
            counts = said.get("counts", True)
            self._steps += counts
            session = said.get("session", "s")
            return [StepSaved(session=session, id=name, reason=said["step"], counts=counts)]
        if "text" in said:
            item = TranscriptItem(id=name, session="s", kind=ItemKind.TEXT, text=said["text"])
            return [item]
        if "tool" in said:
            call = ToolUse(**said["tool"])
            item = call.call_id or name
            return [TranscriptItem(id=item, session="s", kind=ItemKind.TOOL, tool=call)]
        if "todo" in said:
            return [TaskListSaved("s", (TaskListItem(content=said["todo"], status="pending"),))]
        return []


@dataclass
class ScriptedHarness:
    """The adapter."""

    script: str
    store: SqliteStore | None = None
    lies: Mapping[str, object] = field(default_factory=dict)
    """What the written configuration will say instead."""

    name: str = "scripted"
    versions: tuple[str, ...] = ("1.0",)
    dialects: tuple[Dialect, ...] = (Dialect.OPENAI_CHAT,)
    header_wait_s: int = 60
    min_memory_mb: int = 64
    asks_model: bool = True

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:
        del dialect, output_limit
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:
        del dialect
        return ()

    def check(self, settings: Settings) -> None:
        """It takes anything."""

    def plan(self, settings: Settings) -> Plan:
        path = f"{settings.home}/config/settings.json"
        told = {
            "model": settings.model,
            "base_url": settings.base_url,
            "output_limit": settings.output_limit,
            "context": settings.context,
            "effort": settings.effort,
        }
        return Plan(
            argv=(sys.executable, "-c", ASK + self.script),
            env={"SETTINGS": path, **settings.env},
            files=(
                PlannedFile(f"{settings.home}/empty", None, 0o700),
                PlannedFile(path, json.dumps({**told, **self.lies})),
            ),
            stdin=settings.instruction.encode(),
            store=self.store,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        return Written(**json.loads(files[env["SETTINGS"]]))

    def session(self) -> ScriptedSession:
        return ScriptedSession()
