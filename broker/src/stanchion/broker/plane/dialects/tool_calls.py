"""Puts streamed tool calls together to count those that came whole. Pure.

A call is whole when it has a name and its arguments are one JSON document; an empty string stands
for no arguments, as several compatible servers send it.
"""

from dataclasses import dataclass, field

import msgspec

from stanchion.broker.plane.dialects.base import an_id


@dataclass(slots=True)
class _Call:
    id: object = None
    """By which a fragment that begins another call is told."""
    told_id: str | None = None
    """The first that was said, which is what a harness keeps."""
    named: bool = False
    arguments: list[str] = field(default_factory=list)


class ToolCalls:
    """The calls of one response, by choice and position."""

    def __init__(self) -> None:
        self._calls: dict[tuple[int, int], _Call] = {}
        self._earlier: list[_Call] = []
        """Those whose place another one has taken."""

    def take(self, choice: int, calls: object, legacy: object) -> None:
        """Fragments of `tool_calls`, or of the older `function_call`."""
        if isinstance(calls, list):
            for position, fragment in enumerate(calls):
                if isinstance(fragment, dict):
                    index = fragment.get("index")
                    key = index if isinstance(index, int) else position
                    self._function((choice, key), fragment.get("id"), fragment.get("function"))
        self._function((choice, -1), None, legacy)

    def whole(self) -> int:
        """How many came whole."""
        if not self._calls:
            return 0
        return sum(map(_is_whole, (*self._earlier, *self._calls.values())))

    def ids(self) -> tuple[str, ...]:
        """Of those that came whole and have one."""
        calls = (*self._earlier, *self._calls.values())
        return tuple(call.told_id for call in calls if call.told_id is not None and _is_whole(call))

    def cut(self) -> int:
        """How many began and did not come whole."""
        if not self._calls:
            return 0
        return len(self._earlier) + len(self._calls) - self.whole()

    def _function(self, key: tuple[int, int], call_id: object, function: object) -> None:
        if not isinstance(function, dict):
            return
        name, arguments = function.get("name"), function.get("arguments")
        named = bool(isinstance(name, str) and name)
        call = self._call(key, call_id, named=named)
        call.named = call.named or named
        call.told_id = call.told_id or an_id(call_id)
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif isinstance(arguments, dict):  # an object instead of its text
            call.arguments.append(msgspec.json.encode(arguments).decode())

    def _call(self, key: tuple[int, int], call_id: object, *, named: bool) -> _Call:
        """The call that a fragment belongs to: one of the same place, unless it begins another.

        Parallel calls have come with one index for all (NousResearch/hermes-agent#62940) or none
        (noho/dayu-agent#82): a name with another id begins one. An id alone does not, as servers
        have sent a new one with every fragment.
        """
        call = self._calls.get(key)
        another = bool(call_id) and named and call is not None and call.named
        if call is not None and another and call.id not in (None, call_id):
            self._earlier.append(call)
            call = None
        if call is None:
            call = self._calls[key] = _Call(id=call_id or None)
        return call


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
