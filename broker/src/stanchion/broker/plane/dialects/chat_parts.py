"""Folds the messages of chat completions: text, and reasoning in the shapes it has. Pure.

An empty string is no evidence of reasoning, and white space alone is no text. Shapes, by where they
were seen: `reasoning_content` (DeepSeek, Moonshot, GLM, Qwen, xAI); `reasoning` (OpenRouter, vLLM
since 0.11); `reasoning_details` (OpenRouter: text, summary, or only encrypted data); parts of type
`thinking` in a list of content (Mistral); `thinking_blocks` (LiteLLM); a thought signature at a
tool call (Gemini's compatible API); `<think>` at the very start of the text (servers without a
reasoning parser, BerriAI/litellm#15233). A count of reasoning tokens is read with the usage.
"""

from dataclasses import dataclass

_STRINGS = ("reasoning_content", "reasoning")
_LISTS = ("reasoning_details", "thinking_blocks")
_SHAPES = (*_STRINGS, *_LISTS)
_LABELS = frozenset({"type", "id", "format"})
"""Members of a detail that name it."""
_DEPTH = 4
_OPEN, _CLOSE = "<think>", "</think>"


class Parts:
    """What the messages of one response held so far."""

    def __init__(self) -> None:
        self._reasoning = False
        self._text = False
        self._inline: dict[int, _Inline] = {}

    @property
    def text(self) -> bool:
        """Whether text came that is no reasoning."""
        return self._text or any(inline.shown for inline in self._inline.values())

    @property
    def reasoning(self) -> bool:
        """Whether any evidence of reasoning came."""
        return self._reasoning or any(inline.thought for inline in self._inline.values())

    @property
    def reasoned(self) -> bool:
        """Whether reasoning came in a member of its own: more of it tells nothing new."""
        return self._reasoning

    def settled(self, choice: int) -> bool:
        """Whether more text of a choice tells nothing new."""
        inline = self._inline.get(choice)
        return inline is not None and inline.settled

    def text_came(self, choice: int, content: str) -> None:
        """A piece of the text of a choice."""
        if content:
            inline = self._inline.get(choice)
            if inline is None:
                inline = self._inline[choice] = _Inline()
            inline.take(content)

    def take(self, choice: int, part: dict[str, object]) -> None:
        """A delta, or a whole message."""
        content = part.get("content")
        if isinstance(content, str):
            self.text_came(choice, content)
        elif isinstance(content, list):
            self._content(content)
        for name in _SHAPES:
            shape = part.get(name)
            if shape is not None and _shown(shape):
                self._reasoning = True
        calls = part.get("tool_calls")
        if isinstance(calls, list) and any(_signed(call) for call in calls):
            self._reasoning = True

    def _content(self, items: list[object]) -> None:
        for item in items:
            if isinstance(item, dict):
                if item.get("type") == "thinking":
                    self._reasoning = self._reasoning or _shown(item.get("thinking"))
                else:
                    self._text = self._text or bool(item.get("text"))


@dataclass(slots=True)
class _Inline:
    """Text that may begin with its reasoning in a tag of its own."""

    text: bool = False
    reasoning: bool = False
    _inside: bool = False
    _after: bool = False
    _rest: str = ""
    """Not decided yet: what may be the beginning of a tag."""

    @property
    def shown(self) -> bool:
        """Whether there is text that is no reasoning, should nothing more come."""
        return self.text or bool(self._rest and not self._inside)

    @property
    def thought(self) -> bool:
        """Whether there is reasoning, should nothing more come."""
        if self.reasoning or not self._inside or self._after:
            return self.reasoning
        return not _CLOSE.startswith(self._rest.strip())

    @property
    def settled(self) -> bool:
        """Whether another piece changes nothing."""
        return self.text and (self._after or not self._inside)

    def take(self, piece: str) -> None:
        if self._after:
            self.text = self.text or bool(piece.strip())
        elif self._inside:
            self._think(piece)
        elif not self.text:
            self._begin(piece)

    def _begin(self, piece: str) -> None:
        start = (self._rest + piece).lstrip()
        if start.startswith(_OPEN):
            self._inside, self._rest = True, ""
            self._think(start.removeprefix(_OPEN))
        elif _OPEN.startswith(start):
            self._rest = start
        else:
            self.text = True

    def _think(self, piece: str) -> None:
        thought, closed, after = (self._rest + piece).partition(_CLOSE)
        if closed:
            self.reasoning = self.reasoning or bool(thought.strip())
            self._after = True
            self.take(after)
            return
        keep = len(_CLOSE) - 1
        self.reasoning = self.reasoning or bool(thought[:-keep].strip())
        self._rest = thought[-keep:]


def _shown(value: object, depth: int = _DEPTH) -> bool:
    """Whether a string in it is not empty."""
    if isinstance(value, str):
        return bool(value)
    if depth == 0:
        return False
    if isinstance(value, list):
        return any(_shown(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return any(_shown(one, depth - 1) for name, one in value.items() if name not in _LABELS)
    return False


def _signed(call: object) -> bool:
    extra = call.get("extra_content") if isinstance(call, dict) else None
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and bool(google.get("thought_signature"))
