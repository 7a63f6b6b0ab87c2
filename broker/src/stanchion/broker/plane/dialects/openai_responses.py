"""Reads OpenAI responses: requests, streams and whole bodies. Pure.

Source: OpenAI API reference, "Create a model response", "The response object" and "Streaming
events", and the types of its Python SDK 3.57; deviations carry the issue they were reported in. It
reads copies and never rewrites. An error beats everything; only a terminal event ends a stream, and
what its response object says beats its name (vllm-project/agentic-api#273).
"""

import hashlib
from collections.abc import Mapping

import msgspec

from stanchion.broker.plane.dialects.base import DialectReader, ProviderError, Told, an_id
from stanchion.broker.plane.dialects.openai_usage import RESPONSES, UsageFold
from stanchion.broker.plane.dialects.responses_output import Output
from stanchion.broker.plane.dialects.words import Words
from stanchion.protocol.exchange import Asked, Finish

FINISHES = {
    "completed": Finish.STOP,
    "max_output_tokens": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
    "failed": Finish.ERROR,
}
"""By the reason of an incomplete response, else by its status. Every other word is unknown,
`max_messages`, `steered` and `cancelled` among them, and an incomplete one without a reason."""

TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.done": "completed",  # jlcodes99/cockpit-tools#2328
}
"""Events that end a stream, and the status that one without a response object stands for."""

_UNFINISHED = frozenset({"queued", "in_progress"})
_IDLE = frozenset({"keepalive", "ping", "response.in_progress", "response.queued"})
"""Events that say no more than that the server is there (openai/openai-node#1964;
diegosouzapw/OmniRoute#14330 repeats `response.in_progress`)."""


class _Event(msgspec.Struct):
    """The members of an event that matter; anything may be of any type."""

    kind: object = msgspec.field(default=None, name="type")
    response: object = None
    item: object = None
    output_index: object = None
    part: object = None
    delta: object = None
    text: object = None
    error: object = None
    message: object = None
    code: object = None
    param: object = None
    status_code: object = None


_event_decoder = msgspec.json.Decoder(_Event)
_body_decoder = msgspec.json.Decoder(dict[str, object])


def read_request(body: Mapping[str, object], raw: bytes) -> Asked:
    """The words of a request that matter, by the field that carried them."""
    words, limit = Words(), body.get("max_output_tokens")
    effort = words.inside("effort", body.get("reasoning"), "effort")
    return Asked(
        model=words.text("model", body.get("model")),
        output_limit=words.whole("output_limit", limit),
        output_limit_field=None if limit is None else "max_output_tokens",
        effort=words.text("effort", effort),
        effort_field=None if effort is None else "reasoning.effort",
        stream=words.truth("stream", body.get("stream")),
        fields=tuple(sorted(body)),
        body_sha256=hashlib.sha256(raw).hexdigest(),
        body_bytes=len(raw),
        malformed=words.malformed,
    )


class ResponseFold:
    """Collects what one response says, from events or from a whole response object."""

    def __init__(self) -> None:
        self.done = False
        self._error: ProviderError | None = None
        self._finish_raw: str | None = None
        self._model: str | None = None
        self._id: str | None = None
        self._words = Words()
        self._usage = UsageFold(RESPONSES)
        self._output = Output()

    @property
    def failed(self) -> bool:
        """Whether an error or a failed response came."""
        return self._error is not None or self._finish_raw == "failed"

    def stream_event(self, data: bytes) -> bool:
        """One event's data; a sign of life means nothing, nor does a [DONE] that some send."""
        try:
            event = _event_decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        kind = event.kind if isinstance(event.kind, str) else ""
        self._note_error(_said_by(event), bare=kind == "error")
        if kind in TERMINAL:
            self.done = True
            self._response(event.response, TERMINAL[kind])
        elif kind == "response.created":
            self._named(event.response)
        else:
            said = (event.delta, event.text, _member(event.part, "text"))
            self._output.event(kind, event.output_index, event.item, said)
        return kind not in _IDLE

    def whole_body(self, data: bytes) -> bool:
        """A response that was not streamed, or an error's body."""
        try:
            body = _body_decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        what = body.get("object")
        self._note_error(body, bare=what == "error" or body.get("type") == "error")
        if what != "response" and isinstance(body.get("detail"), str):
            self._note_error({"error": body["detail"]})  # FastAPI's, as Wei-Shaw/sub2api#3954
        self._response(body, None)
        return True

    def stray_line(self, text: bytes) -> None:
        """Servers have sent their error as a bare JSON line (googleapis/js-genai#1973)."""
        if text.startswith(b"{") and b'"error"' in text:
            self.stream_event(text)

    def told(self) -> Told:
        """Everything so far."""
        raw, output = self._finish_raw, self._output
        produced = output.text or output.thoughts or output.whole_calls > 0
        reported = self._usage.report(produced=produced, reasoned=output.thoughts, ended=True)
        usage = reported.usage
        counted = usage.reasoning_tokens if usage is not None else None
        return Told(
            error=self._error,
            finish=self._finish(),
            finish_raw=raw,
            model=self._model,
            reported=reported,
            # Only an item that holds nothing is contradicted by a count of none.
            reasoning=output.thoughts or bool(counted) or (output.reasoned and counted is None),
            text=output.text,
            tool_calls=output.whole_calls,
            cut_calls=output.cut_calls,
            response_id=self._id,
            call_ids=tuple(output.call_ids),
            malformed=self._words.malformed,
        )

    def _finish(self) -> Finish | None:
        """The API has no word for a response that asks for tools: its output says so."""
        if self._finish_raw is None:
            return None
        finish = FINISHES.get(self._finish_raw, Finish.UNKNOWN)
        asks = finish is Finish.STOP and self._output.calls > 0
        return Finish.TOOL_USE if asks else finish

    def _response(self, response: object, status: str | None) -> None:
        """A response object that is final; `status` stands in where it names none."""
        self._named(response)
        if isinstance(response, dict):
            self._note_error(response)
            self._usage.take(response.get("usage"))
            self._output.items(response.get("output"))
        said = _word(_member(response, "status"))
        status = status if said is None or (status and said in _UNFINISHED) else said
        reason = _word(_member(_member(response, "incomplete_details"), "reason"))
        if status == "failed":
            self._finish_raw = status
        elif status is not None and status not in _UNFINISHED:
            self._finish_raw = reason or status

    def _named(self, response: object) -> None:
        self._id = self._id or an_id(_member(response, "id"))
        if self._model is None:
            self._model = self._words.text("model_served", _member(response, "model")) or None

    def _note_error(self, holder: Mapping[str, object], *, bare: bool = False) -> None:
        """The first error that says anything stays: Azure explains a `response.failed` without a
        reason by an error event after it (maximhq/bifrost#6652). `bare`: its members stand in the
        holder itself.
        """
        if self._error is not None and (self._error.words or self._error.code):
            return
        error = holder.get("error")
        if isinstance(error, dict):
            self._error = _error(error, holder.get("status_code"))
        elif isinstance(error, str) and error:
            self._error = ProviderError(words=error)
        elif bare:
            self._error = _error(holder, holder.get("status_code"))


def _said_by(event: _Event) -> dict[str, object]:
    return {
        "error": event.error,
        "message": event.message,
        "code": event.code,
        "param": event.param,
        "status_code": event.status_code,
    }


def _error(value: Mapping[str, object], status_code: object) -> ProviderError:
    code, kind = value.get("code"), _word(value.get("type"))
    numbers = (_whole_number(number) for number in (code, status_code))
    return ProviderError(
        words=_word(value.get("message")),
        code=_word(code),
        kind=None if kind == "error" else kind,
        param=_word(value.get("param")),
        status=next((n for n in numbers if n is not None and 400 <= n <= 599), None),
    )


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


READER = DialectReader(
    read_request=read_request,
    new_fold=ResponseFold,
    markers=(*(f'"{kind}"'.encode() for kind in TERMINAL), b'"error"'),
    stream_needs_terminal=True,
)
