"""Puts streamed tool calls together to count those that came whole. Pure.

A call is whole when it has a name and its arguments are one JSON document; an empty string stands
for no arguments, as several compatible servers send it.
"""

from dataclasses import dataclass, field

import msgspec


@dataclass(slots=True)
class _Call:
    named: bool = False
    arguments: list[str] = field(default_factory=list)


class ToolCalls:
    """The calls of one response, by choice and position."""

    def __init__(self) -> None:
        self._calls: dict[tuple[int, int], _Call] = {}

    def take(self, choice: int, calls: object, legacy: object) -> None:
        """Fragments of `tool_calls`, or of the older `function_call`."""
        if isinstance(calls, list):
            for position, fragment in enumerate(calls):
                if isinstance(fragment, dict):
                    index = fragment.get("index")
                    key = index if isinstance(index, int) else position
                    self._function(choice, key, fragment.get("function"))
        self._function(choice, -1, legacy)

    def whole(self) -> int:
        """How many came whole."""
        return sum(_is_whole(call) for call in self._calls.values())

    def cut(self) -> int:
        """How many began and did not come whole."""
        return len(self._calls) - self.whole()

    def _function(self, choice: int, key: int, function: object) -> None:
        if not isinstance(function, dict):
            return
        call = self._calls.setdefault((choice, key), _Call())
        name, arguments = function.get("name"), function.get("arguments")
        call.named = call.named or bool(isinstance(name, str) and name)
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif isinstance(arguments, dict):  # an object instead of its text
            call.arguments.append(msgspec.json.encode(arguments).decode())


def _is_whole(call: _Call) -> bool:
    return call.named and are_whole("".join(call.arguments))


def are_whole(text: str) -> bool:
    """Whether the arguments of a call are one JSON document, or none are there."""
    if not text.strip():
        return True
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True
