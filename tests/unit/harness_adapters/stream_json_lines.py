"""Lines as the harnesses with `--output-format stream-json` print them."""

import json
from typing import Any

from stanchion.harness_adapters.base import Saved
from stanchion.protocol.events import StepSaved

ROOT = "session-1"


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, "session_id": ROOT, **fields}).encode()


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def answered(name: str, output: object = "ok", *, within: str | None = None, **more: Any) -> bytes:
    block = {"type": "tool_result", "tool_use_id": name, "content": output, **more}
    return line("user", message={"content": [block]}, parent_tool_use_id=within)


def steps(saved: list[Saved]) -> list[tuple[str, str, bool]]:
    return [(s.session, s.reason, s.counts) for s in saved if isinstance(s, StepSaved)]
