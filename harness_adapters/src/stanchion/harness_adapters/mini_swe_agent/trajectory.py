"""mini-swe-agent's trajectory file, as far as it says how a run goes.

Decides only what a message is; the shapes are those of version 2.4.6, as recorded. The file is
written anew with each step, so it may be read half-written: what does not fit is None, "unknown",
and never an error, for the agent can write to it too.
"""

import math
from typing import Any

import msgspec

from stanchion.harness_adapters.json_lines import decoded

_LARGEST = 2**53


class Function(msgspec.Struct, frozen=True):
    """What a call asks for."""

    name: str | None = None
    arguments: str | None = None


class Call(msgspec.Struct, frozen=True):
    """One tool call."""

    id: str | None = None
    function: Function = Function()


class Details(msgspec.Struct, frozen=True):
    """Parts of a count."""

    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Tokens(msgspec.Struct, frozen=True):
    """What a response cost. litellm writes 0 for what the provider did not report."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None


class Choice(msgspec.Struct, frozen=True):
    """Why a response ended."""

    finish_reason: str | None = None
    message: "Message | None" = None


class Response(msgspec.Struct, frozen=True):
    """A response as litellm has it."""

    id: str | None = None
    choices: tuple[Choice, ...] = ()
    usage: Tokens | None = None

    @property
    def finish(self) -> str | None:
        """OpenAI's word, whatever the API."""
        return self.choices[0].finish_reason if self.choices else None

    @property
    def is_empty(self) -> bool:
        """Neither text nor a call."""
        said = self.choices[0].message if self.choices else None
        return said is None or not (said.text.strip() or said.tool_calls)


class Extra(msgspec.Struct, frozen=True):
    """What mini-swe-agent keeps beside a message."""

    response: Response | str | None = None
    actions: tuple[Any, ...] | None = None
    timestamp: float | None = None
    returncode: int | None = None
    exit_status: str | None = None
    exception_str: str | None = None

    @property
    def at_ms(self) -> int | None:
        """When it was saved."""
        seconds = self.timestamp
        if seconds is None or not math.isfinite(seconds) or not 0 <= seconds * 1000 < _LARGEST:
            return None
        return int(seconds * 1000)


class Message(msgspec.Struct, frozen=True):
    """One message of the conversation."""

    role: str | None = None
    content: str | tuple[Any, ...] | None = None
    tool_calls: tuple[Call, ...] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    extra: Extra = Extra()

    @property
    def text(self) -> str:
        """Its content as text."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        pieces = [piece.get("text") for piece in self.content if isinstance(piece, dict)]
        return "\n".join(piece for piece in pieces if isinstance(piece, str))


class Trajectory(msgspec.Struct, frozen=True):
    """The file."""

    messages: tuple[msgspec.Raw, ...] = ()


_FILE = msgspec.json.Decoder(Trajectory)
_MESSAGE = msgspec.json.Decoder(Message)


def messages(text: object) -> tuple[msgspec.Raw, ...] | None:
    """All messages of a file that is whole."""
    if not isinstance(text, str | bytes):
        return None
    found = decoded(_FILE, text)
    return None if found is None else found.messages


def message(raw: msgspec.Raw) -> Message | None:
    """One of them."""
    return decoded(_MESSAGE, raw)
