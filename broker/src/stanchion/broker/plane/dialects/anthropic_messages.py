"""Reads Anthropic messages: requests, streams and whole bodies. Pure.

Source: Anthropic API reference, "Create a Message", "Streaming messages", "Errors" and "Handling
stop reasons"; deviations of compatible servers carry the issue they were reported in. It reads
copies and never rewrites. An error event beats everything; only `message_stop` ends a stream.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from stanchion.broker.plane.dialects.anthropic_blocks import Blocks
from stanchion.broker.plane.dialects.anthropic_frame import frame_of
from stanchion.broker.plane.dialects.anthropic_usage import UsageFold
from stanchion.broker.plane.dialects.base import (
    DialectReader,
    ProviderError,
    ResponseFold,
    Told,
    an_id,
)
from stanchion.broker.plane.dialects.words import Words
from stanchion.broker.plane.frame import Frame
from stanchion.protocol.exchange import Asked, Finish

FINISHES = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.TOOL_USE,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.CONTENT_FILTER,
}
"""Every other word is unknown, `pause_turn` among them: that turn is not over."""


class _Document(msgspec.Struct):
    """The members of an event or a whole message that matter; anything may be of any type."""

    kind: object = msgspec.field(default=None, name="type")
    id: object = None
    message: object = None
    index: object = None
    content_block: object = None
    delta: object = None
    usage: object = None
    error: object = None
    model: object = None
    content: object = None
    stop_reason: object = None


_decoder = msgspec.json.Decoder(_Document)


def read_request(body: Mapping[str, object], raw: bytes) -> Asked:
    """The words of a request that matter, by the field that carried them."""
    words, limit, thinking = Words(), body.get("max_tokens"), body.get("thinking")
    effort = words.inside("effort", body.get("output_config"), "effort")
    kind = words.inside("thinking", thinking, "type")
    return Asked(
        model=words.text("model", body.get("model")),
        output_limit=words.whole("output_limit", limit),
        output_limit_field=None if limit is None else "max_tokens",
        effort=words.text("effort", effort),
        effort_field=None if effort is None else "output_config.effort",
        stream=words.truth("stream", body.get("stream")),
        fields=tuple(sorted(body)),
        body_sha256=hashlib.sha256(raw).hexdigest(),
        body_bytes=len(raw),
        thinking=words.text("thinking", kind),
        thinking_budget=words.whole("thinking_budget", _member(thinking, "budget_tokens")),
        malformed=words.malformed,
    )


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class MessageFold:
    """Collects what one response says, from events or from a whole message."""

    def __init__(self) -> None:
        self.done = False
        self._error: ProviderError | None = None
        self._finish_raw: str | None = None
        self._model: str | None = None
        self._id: str | None = None
        self._words = Words()
        self._usage = UsageFold()
        self._blocks = Blocks()

    @property
    def failed(self) -> bool:
        """Whether an error object came."""
        return self._error is not None

    def stream_event(self, data: bytes) -> bool:
        """One event's data; a ping means nothing."""
        event = _decoded(data)
        if event is None:
            return False
        self._note_error(event)
        if event.kind == "message_start":
            self._started(event.message)
        elif event.kind == "content_block_start":
            self._blocks.start(event.index, event.content_block)
        elif event.kind == "content_block_delta":
            self._blocks.delta(event.index, event.delta)
        elif event.kind == "content_block_stop":
            self._blocks.stop(event.index)
        elif event.kind == "message_delta":
            self._usage.take(event.usage)
            self._stopped(_member(event.delta, "stop_reason"))
        elif event.kind == "message_stop":
            self.done = True
        return event.kind != "ping"

    def frame(self, data: bytes) -> Frame | None:
        """What stands around the text of this event, if more text tells nothing new."""
        return frame_of(data, text=self._blocks.text, thinking=self._blocks.thinking)

    def whole_body(self, data: bytes) -> bool:
        """A message that was not streamed."""
        message = _decoded(data)
        if message is None:
            return False
        self._note_error(message)
        self._named(message.model, message.id)
        self._usage.take(message.usage)
        self._blocks.content(message.content)
        self._stopped(message.stop_reason)
        return True

    def stray_line(self, text: bytes) -> None:
        """Servers have sent their error as a bare JSON line (googleapis/js-genai#1973)."""
        document = _decoded(text) if text.startswith(b"{") and b'"error"' in text else None
        if document is not None:
            self._note_error(document)

    def told(self) -> Told:
        """Everything so far."""
        raw, blocks = self._finish_raw, self._blocks
        produced = blocks.text or blocks.thinking or blocks.whole_calls > 0
        reported = self._usage.report(produced=produced, reasoned=blocks.thinking)
        counted = reported.usage.reasoning_tokens if reported.usage is not None else None
        return Told(
            error=self._error,
            finish=None if raw is None else FINISHES.get(raw, Finish.UNKNOWN),
            finish_raw=raw,
            model=self._model,
            reported=reported,
            reasoning=blocks.thinking or bool(counted),
            text=blocks.text,
            tool_calls=blocks.whole_calls,
            cut_calls=blocks.cut_calls,
            response_id=self._id,
            call_ids=tuple(blocks.call_ids),
            malformed=self._words.malformed,
        )

    def _started(self, message: object) -> None:
        self._named(_member(message, "model"), _member(message, "id"))
        self._usage.start(_member(message, "usage"))
        self._blocks.content(_member(message, "content"))

    def _named(self, model: object, response_id: object) -> None:
        self._id = self._id or an_id(response_id)
        if self._model is None:
            self._model = self._words.text("model_served", model) or None

    def _stopped(self, reason: object) -> None:
        self._finish_raw = self._words.text("finish_raw", reason) or self._finish_raw

    def _note_error(self, document: _Document) -> None:
        error = document.error
        if self._error is not None:
            return
        if isinstance(error, dict):
            status = _whole_number(error.get("code"))  # gateways before compatible servers
            self._error = ProviderError(
                words=_word(error.get("message")),
                code=_word(error.get("code")),
                kind=_word(error.get("type")),
                status=status if status is not None and 400 <= status <= 599 else None,
            )
        elif document.kind == "error" or (isinstance(error, str) and error):
            self._error = ProviderError(words=_word(error) or _word(document.message))


def _decoded(data: bytes) -> _Document | None:
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _frame(fold: ResponseFold, data: bytes) -> Frame | None:
    return fold.frame(data) if isinstance(fold, MessageFold) else None


READER = DialectReader(
    read_request=read_request,
    new_fold=MessageFold,
    markers=(b'"message_stop"', b'"error"'),
    stream_needs_terminal=True,
    frame=_frame,
)
