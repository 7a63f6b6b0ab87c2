"""Folds the output of an OpenAI response: text, reasoning and whole tool calls. Pure.

Streamed items are what a harness acts on, so the list in the terminal response only counts for
calls that no event showed. Items are told apart by `output_index`, since servers give one item
another id in each of its events (vercel/ai#18548).
"""

from stanchion.broker.plane.dialects.base import an_id
from stanchion.broker.plane.dialects.tool_calls import are_whole

_NAMED = ("function_call", "custom_tool_call")
CALLS = (*_NAMED, "local_shell_call", "shell_call", "apply_patch_call", "computer_call")
"""Items that the harness has to answer. A search or a program that the provider runs itself is
none of them."""
_CUT = ("incomplete", "in_progress")
_TEXT = ("response.output_text.delta", "response.output_text.done")
_FRAGMENTS = ("response.function_call_arguments.", "response.custom_tool_call_input.")


class Output:
    """What the output held so far."""

    def __init__(self) -> None:
        self.text = False
        self.thoughts = False
        """Reasoning that is there: whole, summed up or encrypted."""
        self.reasoned = False
        """A reasoning item, even one that holds nothing."""
        self.whole_calls = 0
        self.call_ids: list[str] = []
        """Of whole calls that have one."""
        self._broken_calls = 0
        self._open: set[int] = set()

    def event(self, kind: str, index: object, item: object, said: tuple[object, ...]) -> None:
        """An event of the stream; `said` is whatever text it may carry."""
        place = index if isinstance(index, int) else -1
        if kind == "response.output_item.added":
            self._begun(place, item)
        elif kind == "response.output_item.done":
            self._item(place, item)
        elif kind.startswith(_FRAGMENTS):
            self._open.add(place)
        elif kind in _TEXT:
            self.text = self.text or any(said)
        elif kind.startswith("response.reasoning"):
            self.thoughts = self.thoughts or any(said)

    def items(self, output: object) -> None:
        """The list of a whole response, or of a terminal event."""
        streamed = self.calls > 0
        for place, item in enumerate(output if isinstance(output, list) else ()):
            if not streamed or place in self._open or not _is_call(item):
                self._item(place, item)

    @property
    def calls(self) -> int:
        """Calls that began."""
        return self.whole_calls + self.cut_calls

    @property
    def cut_calls(self) -> int:
        """Calls that began and did not come whole, with those whose item never ended."""
        return self._broken_calls + len(self._open)

    def _begun(self, place: int, item: object) -> None:
        if _is_call(item):
            self._open.add(place)
        elif isinstance(item, dict):
            self._shown(item)

    def _item(self, place: int, item: object) -> None:
        if not isinstance(item, dict):
            return
        if _is_call(item):
            whole = _is_whole(item)
            self._open.discard(place)
            self.whole_calls += whole
            self._broken_calls += not whole
            call_id = an_id(item.get("call_id"))
            if whole and call_id is not None:
                self.call_ids.append(call_id)
        else:
            self._shown(item)

    def _shown(self, item: dict[str, object]) -> None:
        """Text and reasoning; empty strings are no evidence, and a refusal is no text."""
        if item.get("type") == "message":
            self.text = self.text or "output_text" in _kinds_with_text(item.get("content"))
        elif item.get("type") == "reasoning":
            self.reasoned = True
            shown = (_kinds_with_text(item.get(name)) for name in ("summary", "content"))
            self.thoughts = self.thoughts or any((*shown, item.get("encrypted_content")))


def _is_call(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") in CALLS


def _is_whole(item: dict[str, object]) -> bool:
    """A call that the limit cut may say so in one of two words (vercel/ai#20405), or say completed
    as vLLM does (vllm-project/vllm#57998), so its arguments have to be read.
    """
    name, arguments = item.get("name"), item.get("arguments")
    if item.get("status") in _CUT:
        return False
    if item.get("type") in _NAMED and not (isinstance(name, str) and name):
        return False
    if item.get("type") != "function_call" or arguments is None or isinstance(arguments, dict):
        return True
    return isinstance(arguments, str) and are_whole(arguments)


def _kinds_with_text(parts: object) -> list[object]:
    return [
        part.get("type")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("text")
    ]
