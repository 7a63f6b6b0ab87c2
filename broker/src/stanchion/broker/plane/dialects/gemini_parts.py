"""Folds the content parts of Gemini's candidates: text, thoughts and whole function calls. Pure.

A call comes whole in one part. Where arguments are streamed (`partialArgs`, Vertex AI reference,
"Streaming function call arguments"), it is whole with the part that says no more of it follows.
"""

from stanchion.broker.plane.dialects.base import an_id


class Parts:
    """What the content held so far."""

    def __init__(self) -> None:
        self.text = False
        self.thinking = False
        self.whole_calls = 0
        self.call_ids: list[str] = []
        """Of whole calls that have one; most have none."""
        self._broken_calls = 0
        self._open_named: bool | None = None
        """Whether the call whose arguments are still coming has a name; None = there is none."""

    @property
    def cut_calls(self) -> int:
        """Calls that began and did not come whole."""
        return self._broken_calls + (self._open_named is not None)

    def take(self, parts: object) -> bool:
        """The parts of one candidate in one event; whether any of them said something."""
        came = False
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                came = self._part(part) or came
        return came

    def _part(self, part: dict[str, object]) -> bool:
        """Empty strings are no evidence; a signature stands for thoughts that are not shown."""
        call, text = part.get("functionCall"), part.get("text")
        signed = bool(part.get("thoughtSignature"))
        said = isinstance(text, str) and bool(text)
        thought = part.get("thought") is True
        self.thinking = self.thinking or signed or (said and thought)
        self.text = self.text or (said and not thought)
        if isinstance(call, dict):
            self._call(call)
        return said or isinstance(call, dict)

    def _call(self, call: dict[str, object]) -> None:
        name, arguments = call.get("name"), call.get("args")
        named = (isinstance(name, str) and bool(name)) or self._open_named is True
        if call.get("willContinue") is True:
            self._open_named = named
            return
        whole = named and (arguments is None or isinstance(arguments, dict))
        self._open_named = None
        self.whole_calls += whole
        self._broken_calls += not whole
        call_id = an_id(call.get("id"))
        if whole and call_id is not None:
            self.call_ids.append(call_id)
