"""Saved conversations and the receipts of the responses they came from."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fakes.receipts import (
    Writing,
    asked,
    ending,
    exchange_end,
    exchange_start,
    run_open,
    run_started,
)
from stanchion.protocol.exchange import Answered, ExchangeResult, Finish
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, RunOpen, RunStarted
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage

ROOT = "ses_root"


def item(kind: ItemKind, name: str, text: str | None = None, **more: Any) -> TranscriptItem:
    session = more.pop("session", ROOT)
    return TranscriptItem(id=name, session=session, kind=kind, text=text, at_ms=1_000, **more)


def call(name: str, call_id: str | None, output: str = "done", **more: Any) -> TranscriptItem:
    tool = ToolUse(
        name="bash", call_id=call_id, status="completed", arguments='{"command":"ls"}',
        output=output,
    )  # fmt: skip
    return item(ItemKind.TOOL, name, tool=tool, **more)


def end(name: str, finish: str = "stop", **more: Any) -> TranscriptItem:
    return item(ItemKind.STEP_END, name, finish=finish, **more)


def answer(*call_ids: str, calls: int | None = None, **more: Any) -> Answered:
    said: dict[str, Any] = {
        "result": ExchangeResult.COMPLETED,
        "finish": Finish.TOOL_USE if call_ids or calls else Finish.STOP,
        "model_served": "m-1",
        "usage": Usage(input_tokens=10, output_tokens=5, reasoning_tokens=2),
        "input_includes_cache": True,
        "output_includes_reasoning": True,
        "tool_calls": len(call_ids) if calls is None else calls,
        "tool_call_ids": call_ids,
        "text_present": True,
    }
    return Answered(**(said | more))


def bundle(
    answers: Sequence[Answered], *, sessions: Sequence[str | None] = (), closed: bool = True
) -> bytes:
    """Each answer is that of one exchange, in order."""
    writing = Writing().add(RunOpen, **run_open()).add(RunStarted, **run_started())
    for number, answered in enumerate(answers, 1):
        named = sessions[number - 1] if sessions else None
        start = exchange_start(number, sent=asked()) | {"session": named}
        writing.add(ExchangeStart, **start)
        writing.add(ExchangeEnd, **(exchange_end(number) | {"answered": answered}))
    return writing.close(**ending()) if closed else writing.bundle()


def lines(items: Sequence[TranscriptItem]) -> bytes:
    """As in `transcript.jsonl`."""
    return b"".join(msgspec.json.encode(one) + b"\n" for one in items)
