"""Folds the content blocks of an Anthropic message: text, thinking and whole tool calls. Pure.

A call is whole when it has a name and, by the end of its block, its input is one JSON object; no
input at all stands for an empty one. A call that the provider runs itself is none of the harness's.
"""

from dataclasses import dataclass, field

import msgspec

from stanchion.broker.plane.dialects.base import an_id

_TEXT = ("text", "text_delta")
_THINKING = ("thinking", "thinking_delta", "signature_delta", "redacted_thinking")
"""No sets: a type may be anything, a list too, and what has no hash is in none of them."""


@dataclass(slots=True)
class _Call:
    """A tool call whose block has not ended."""

    id: str | None
    named: bool
    given: object
    """The input of the block's start; servers have sent all of it there."""
    pieces: list[str] = field(default_factory=list)

    def is_whole(self) -> bool:
        text = "".join(self.pieces)
        if not text.strip():
            return self.named and (self.given is None or isinstance(self.given, dict))
        try:
            return self.named and isinstance(msgspec.json.decode(text), dict)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return False


class Blocks:
    """What the content held so far."""

    def __init__(self) -> None:
        self.text = False
        self.thinking = False
        self.whole_calls = 0
        self.call_ids: list[str] = []
        """Of whole calls that have one."""
        self._broken_calls = 0
        self._open: dict[int, _Call] = {}

    def start(self, index: object, block: object) -> None:
        """`content_block_start`."""
        if not isinstance(block, dict):
            return
        self._shown(block)
        if block.get("type") == "tool_use" and isinstance(index, int):
            self._open[index] = _call(block)

    def delta(self, index: object, delta: object) -> None:
        """`content_block_delta`."""
        if not isinstance(delta, dict):
            return
        self._shown(delta)
        piece = delta.get("partial_json")
        if isinstance(piece, str) and isinstance(index, int) and index in self._open:
            self._open[index].pieces.append(piece)

    def stop(self, index: object) -> None:
        """`content_block_stop`."""
        if isinstance(index, int) and index in self._open:
            self._ended(self._open.pop(index))

    def content(self, blocks: object) -> None:
        """The content of a message that was not streamed."""
        for block in blocks if isinstance(blocks, list) else ():
            if not isinstance(block, dict):
                continue
            self._shown(block)
            if block.get("type") == "tool_use":
                self._ended(_call(block))

    @property
    def cut_calls(self) -> int:
        """Calls that began and did not come whole, with those whose block never ended."""
        return self._broken_calls + len(self._open)

    def _ended(self, call: _Call) -> None:
        whole = call.is_whole()
        self.whole_calls += whole
        self._broken_calls += not whole
        if whole and call.id is not None:
            self.call_ids.append(call.id)

    def _shown(self, part: dict[str, object]) -> None:
        """Text and thinking, which a start and a delta name alike; empty strings are no evidence.

        Thinking that is not shown has only a signature, or only encrypted data.
        """
        kind = part.get("type")
        if kind in _TEXT and part.get("text"):
            self.text = True
        elif kind in _THINKING:
            shown = (part.get(name) for name in ("thinking", "signature", "data"))
            self.thinking = self.thinking or any(shown)


def _call(block: dict[str, object]) -> _Call:
    name = block.get("name")
    return _Call(
        id=an_id(block.get("id")),
        named=isinstance(name, str) and bool(name),
        given=block.get("input"),
    )
