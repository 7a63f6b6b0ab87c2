"""Rows of OpenCode's `event` table and lines of its output, as typed values.

Decides which of them can be read at all: what does not fit is None, "unknown", and never an error,
for the agent can write to this table too.
"""

import re
from collections.abc import Sequence

import msgspec

from stanchion.harness_adapters.json_lines import mended

Number = int | float | None

_LARGEST = 2**53
"""The largest whole number that JavaScript keeps exactly."""


class Cache(msgspec.Struct, frozen=True):
    """Cached part of the input."""

    read: Number = None
    write: Number = None


class Tokens(msgspec.Struct, frozen=True):
    """What a step cost. OpenCode writes 0 for what the provider did not report."""

    input: Number = None
    output: Number = None
    reasoning: Number = None
    cache: Cache = Cache()


class ToolState(msgspec.Struct, frozen=True):
    """How far a tool call is."""

    status: str
    input: msgspec.Raw = msgspec.Raw(b"null")
    output: str | None = None
    error: str | None = None


class Part(msgspec.Struct, frozen=True, rename={"session": "sessionID", "message": "messageID"}):
    """One piece of a message."""

    id: str
    session: str
    message: str
    type: str
    text: str | None = None
    tool: str | None = None
    call_id: str | None = msgspec.field(default=None, name="callID")
    state: ToolState | None = None
    reason: str | None = None
    tokens: Tokens | None = None


class ErrorData(msgspec.Struct, frozen=True):
    """What is known of an error."""

    message: str | None = None
    status: int | None = msgspec.field(default=None, name="statusCode")


class Failure(msgspec.Struct, frozen=True):
    """An error as OpenCode saves and prints it."""

    name: str
    data: ErrorData = ErrorData()

    def sentence(self) -> str:
        """One line for people."""
        status = "" if self.data.status is None else f" {self.data.status}"
        return f"{self.name}{status}: {self.data.message or 'no message'}"[:2000]


class MessageTime(msgspec.Struct, frozen=True):
    """When a message began and ended."""

    created: Number = None
    completed: Number = None


class Message(msgspec.Struct, frozen=True, rename={"session": "sessionID"}):
    """A message without its parts."""

    id: str
    session: str
    role: str
    time: MessageTime = MessageTime()
    finish: str | None = None
    error: Failure | None = None
    summary: object = None
    """True for a compaction; a user's message may have something else here."""


class Session(msgspec.Struct, frozen=True):
    """A conversation; one with a parent is a sub-agent's."""

    id: str
    parent: str | None = msgspec.field(default=None, name="parentID")


class SessionChanged(msgspec.Struct, frozen=True):
    info: Session


class MessageChanged(msgspec.Struct, frozen=True):
    info: Message


class PartChanged(msgspec.Struct, frozen=True):
    part: Part
    time: Number = None


class PartRemoved(msgspec.Struct, frozen=True):
    message: str = msgspec.field(name="messageID")
    part: str = msgspec.field(name="partID")


class MessageRemoved(msgspec.Struct, frozen=True):
    message: str = msgspec.field(name="messageID")


class Todo(msgspec.Struct, frozen=True):
    """One line of the agent's list."""

    content: str
    status: str
    priority: str | None = None


class Todos(msgspec.Struct, frozen=True):
    """What the tool `todowrite` is called with: the whole list."""

    todos: tuple[Todo, ...]


class Printed(msgspec.Struct, frozen=True):
    """One line of `run --format json`."""

    type: str
    error: Failure | None = None


Change = SessionChanged | MessageChanged | PartChanged | PartRemoved | MessageRemoved

_CHANGES: dict[str, msgspec.json.Decoder[Change]] = {
    "session.created": msgspec.json.Decoder(SessionChanged),
    "session.updated": msgspec.json.Decoder(SessionChanged),
    "message.updated": msgspec.json.Decoder(MessageChanged),
    "message.removed": msgspec.json.Decoder(MessageRemoved),
    "message.part.updated": msgspec.json.Decoder(PartChanged),
    "message.part.removed": msgspec.json.Decoder(PartRemoved),
}
_TODOS = msgspec.json.Decoder(Todos)
_PRINTED = msgspec.json.Decoder(Printed)
_VERSION = re.compile(r"\.\d+$")


def change(row: Sequence[object]) -> Change | None:
    """The change that a row (cursor, session, seq, type, data) records."""
    if len(row) != 5:
        return None
    kind, data = row[3], row[4]
    if not isinstance(kind, str) or not isinstance(data, str | bytes):
        return None
    decoder = _CHANGES.get(_VERSION.sub("", kind))
    return None if decoder is None else mended(decoder, data)


def todos(arguments: msgspec.Raw) -> Todos | None:
    """The list in a call of `todowrite`."""
    return mended(_TODOS, bytes(arguments))


def printed(line: bytes) -> Printed | None:
    """A line of standard output."""
    return mended(_PRINTED, line)


def whole(number: Number) -> int | None:
    """A count or a time; what can be neither is unknown."""
    return None if number is None or not 0 <= number <= _LARGEST else int(number)
