"""A transcript's items as entries for people, each said once as it grows. Pure.

An item comes again whenever it changes: only what is new of it becomes an entry. The words are the
sandbox's and are made plain here.
"""

from dataclasses import dataclass

import msgspec

from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage
from stanchion.runner.live.plain_text import first_lines, one_line, plain

OUTPUT_LINES = 8
"""Of a tool's output, where not all is wanted."""
ARGUMENT_WIDTH = 400
SPOKEN = frozenset({ItemKind.USER, ItemKind.REASONING, ItemKind.TEXT, ItemKind.COMPACTION})


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done."""

    at_ms: int | None
    label: str
    kind: ItemKind
    text: str


class TranscriptReader:
    """Items in, in the order in which they were saved; entries out."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full
        self._seen: dict[str, TranscriptItem] = {}

    def read(self, item: TranscriptItem) -> list[Entry]:
        """What this says that was not said before."""
        before = self._seen.get(item.id)
        self._seen[item.id] = item
        if item.kind in SPOKEN:
            return self._spoken(item, before)
        if item.kind is ItemKind.TOOL and item.tool is not None:
            return self._tool(item, item.tool, None if before is None else before.tool)
        if item == before:
            return []
        if item.kind is ItemKind.STEP_END:
            return [_entry(item, "step", f"{item.finish or 'unknown'}{_usage(item.usage)}")]
        return [_entry(item, "error", item.text or "unknown")]

    def _spoken(self, item: TranscriptItem, before: TranscriptItem | None) -> list[Entry]:
        text = item.text or ("the conversation was compacted" if before is None else "")
        said = None if before is None else before.text or ""
        if said is not None and text.startswith(said):
            text = text[len(said) :]
        return [_entry(item, str(item.kind), text)] if text.strip() else []

    def _tool(self, item: TranscriptItem, now: ToolUse, before: ToolUse | None) -> list[Entry]:
        entries = []
        name = now.name or "tool"
        if before is None and now.arguments is not None:
            called = plain(now.arguments) if self._full else arguments_text(now.arguments)
            entries.append(_entry(item, name, called))
        ended = now.status in {"completed", "error"}
        if ended and (before is None or before.status != now.status):
            output = now.output or ""
            shown = plain(output) if self._full else first_lines(output, OUTPUT_LINES)
            entries.append(_entry(item, f"{name} {now.status}", shown))
        return entries


def _entry(item: TranscriptItem, label: str, text: str) -> Entry:
    nested = "" if item.parent_session is None else "sub-agent "
    return Entry(
        at_ms=item.at_ms,
        label=one_line(f"{nested}{label}", 40),
        kind=item.kind,
        text=plain(text).strip("\n"),
    )


def arguments_text(arguments: str) -> str:
    """A call's arguments in few words: its command, else `name=value` for each."""
    try:
        values = msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return one_line(arguments, ARGUMENT_WIDTH)
    if "command" in values:
        return one_line(_value(values["command"]), ARGUMENT_WIDTH)
    shown = " ".join(f"{name}={one_line(_value(raw), 120)}" for name, raw in values.items())
    return one_line(shown, ARGUMENT_WIDTH)


def _value(raw: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(raw, type=str)
    except msgspec.DecodeError:
        return bytes(raw).decode(errors="replace")


def _usage(usage: Usage | None) -> str:
    if usage is None:
        return ""
    shown = {"in": usage.input_tokens, "out": usage.output_tokens}
    parts = [f"{name} {'unknown' if n is None else n}" for name, n in shown.items()]
    if usage.reasoning_tokens is not None:
        parts.append(f"reasoning {usage.reasoning_tokens}")
    return f" · {' '.join(parts)}"
