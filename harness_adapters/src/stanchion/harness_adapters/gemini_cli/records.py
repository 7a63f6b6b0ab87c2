"""Lines of Gemini CLI's session files and of its `stream-json`, as typed values.

Decides which of them can be read at all: what does not fit is None, "unknown", and never an error,
for the agent can write to both places too. The shapes are those of version 0.61.0, as recorded.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from stanchion.harness_adapters.json_lines import mended
from stanchion.protocol.usage import Usage


class Tokens(msgspec.Struct, frozen=True):
    """What a response cost; thoughts stand beside the output."""

    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0

    def usage(self) -> Usage | None:
        """As a provider counts; 0 may mean that nothing was reported."""
        if not self.input and not self.output:
            return None
        return Usage(
            input_tokens=self.input or None,
            output_tokens=self.output + self.thoughts or None,
            reasoning_tokens=self.thoughts or None,
            cache_read_tokens=self.cached or None,
        )


class Thought(msgspec.Struct, frozen=True):
    """A piece of reasoning."""

    subject: str = ""
    description: str = ""

    def text(self) -> str:
        """All of it."""
        return "\n".join(part for part in (self.subject, self.description) if part)


class Call(msgspec.Struct, frozen=True, rename={"display": "resultDisplay"}):
    """A tool call that has run."""

    id: str
    name: str
    status: str
    args: msgspec.Raw = msgspec.Raw(b"{}")
    result: Any = None
    display: Any = None

    def output(self) -> str | None:
        """What the model was told, as far as it is text."""
        if not isinstance(self.result, list):
            return None
        answers = [_field(_field(one, "functionResponse"), "response") for one in self.result]
        texts = [_field(one, "output") or _field(one, "error") for one in answers]
        return "\n".join(text for text in texts if isinstance(text, str)) or None


class Record(msgspec.Struct, frozen=True, rename={"calls": "toolCalls"}):
    """A message as saved; a response is saved again once its tools have run."""

    id: str
    type: str
    content: Any = None
    thoughts: tuple[Thought, ...] = ()
    tokens: Tokens = Tokens()
    calls: tuple[Call, ...] = ()

    def text(self) -> str:
        """All its text."""
        if isinstance(self.content, str):
            return self.content
        pieces = self.content if isinstance(self.content, list) else []
        texts = [_field(piece, "text") for piece in pieces]
        return "\n".join(text for text in texts if isinstance(text, str))


class Head(msgspec.Struct, frozen=True, rename="camel"):
    """The first line of a session's file."""

    session_id: str
    kind: str


class Failure(msgspec.Struct, frozen=True):
    """Why something failed."""

    message: str | None = None


class Printed(msgspec.Struct, frozen=True):
    """One line of standard output."""

    type: str
    session_id: str | None = None
    role: str | None = None
    content: str | None = None
    severity: str | None = None
    message: str | None = None
    status: str | None = None
    error: Failure | None = None


_RECORD = msgspec.json.Decoder(Record)
_HEAD = msgspec.json.Decoder(Head)
_PRINTED = msgspec.json.Decoder(Printed)


def row(row: Sequence[object]) -> tuple[str, Head | Record] | None:
    """The file and what the line of it says."""
    if len(row) != 2:
        return None
    path, line = row
    if not isinstance(path, str) or not isinstance(line, str | bytes):
        return None
    found: Head | Record | None = mended(_RECORD, line)
    found = found or mended(_HEAD, line)
    return None if found is None else (path, found)


def printed(line: bytes) -> Printed | None:
    """A line of standard output."""
    return mended(_PRINTED, line)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
