"""Reads OpenAI chat completions: requests, streams and whole bodies. Pure.

Source: OpenAI API reference, "Create chat completion" and "Chat completion chunk"; deviations of
compatible servers carry the issue they were reported in. It reads copies and never rewrites.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from stanchion.broker.plane.dialects.base import DialectReader, ProviderError, Told
from stanchion.broker.plane.dialects.openai_usage import UsageFold
from stanchion.broker.plane.dialects.tool_calls import ToolCalls
from stanchion.broker.plane.dialects.words import Words
from stanchion.protocol.exchange import Asked, Finish

DONE = b"[DONE]"

FINISHES = {
    "stop": Finish.STOP,
    "tool_calls": Finish.TOOL_USE,
    "function_call": Finish.TOOL_USE,
    "length": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
    "error": Finish.ERROR,
    "network_error": Finish.ERROR,  # promptfoo/promptfoo#9905
}


class _Document(msgspec.Struct):
    """The members of a chunk or a whole response that matter; anything may be of any type."""

    model: object = None
    choices: object = None
    usage: object = None
    error: object = None
    message: object = None
    code: object = None
    kind: object = msgspec.field(default=None, name="type")
    what: object = msgspec.field(default=None, name="object")


_decoder = msgspec.json.Decoder(_Document)


def read_request(body: Mapping[str, object], raw: bytes) -> Asked:
    """The words of a request that matter, by the field that carried them."""
    words = Words()
    nested = words.inside("effort", body.get("reasoning"), "effort")
    limits = {name: body.get(name) for name in ("max_completion_tokens", "max_tokens")}
    efforts = {"reasoning_effort": body.get("reasoning_effort"), "reasoning.effort": nested}
    limit_field, limit = words.one("output_limit", limits)
    effort_field, effort = words.one("effort", efforts)
    return Asked(
        model=words.text("model", body.get("model")),
        output_limit=words.whole("output_limit", limit),
        output_limit_field=limit_field,
        effort=words.text("effort", effort),
        effort_field=effort_field,
        stream=words.truth("stream", body.get("stream")),
        fields=tuple(sorted(body)),
        body_sha256=hashlib.sha256(raw).hexdigest(),
        body_bytes=len(raw),
        malformed=words.malformed,
    )


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class ChatFold:
    """Collects what one response says, from chunks or from a whole body."""

    def __init__(self) -> None:
        self.done = False
        self._error: ProviderError | None = None
        self._finish_raw: str | None = None
        self._model: str | None = None
        self._words = Words()
        self._usage = UsageFold()
        self._reasoning = False
        self._text = False
        self._calls = ToolCalls()

    @property
    def failed(self) -> bool:
        """Whether an error object or an error's finish came."""
        return self._error is not None or FINISHES.get(self._finish_raw or "") is Finish.ERROR

    def stream_event(self, data: bytes) -> bool:
        """One event's data; [DONE] or a chunk."""
        if data.strip() == DONE:
            self.done = True
            return True
        return self._document(data)

    def whole_body(self, data: bytes) -> bool:
        """A response that was not streamed."""
        return self._document(data)

    def stray_line(self, text: bytes) -> None:
        """Servers have sent their error as a bare JSON line (googleapis/js-genai#1973)."""
        if text.startswith(b"{") and b'"error"' in text:
            self._document(text)

    def told(self) -> Told:
        """Everything so far."""
        finish = None if self._finish_raw is None else FINISHES.get(self._finish_raw)
        if self._finish_raw is not None and finish is None:
            finish = Finish.UNKNOWN
        whole = self._calls.whole()
        reported = self._usage.report(
            produced=self._text or self._reasoning or whole > 0,
            reasoned=self._reasoning,
            ended=self._finish_raw is not None,
        )
        counted = reported.usage.reasoning_tokens if reported.usage is not None else None
        return Told(
            error=self._error,
            finish=finish,
            finish_raw=self._finish_raw,
            model=self._model,
            reported=reported,
            reasoning=self._reasoning or bool(counted),
            text=self._text,
            tool_calls=whole,
            cut_calls=self._calls.cut(),
            malformed=self._words.malformed,
        )

    def _document(self, data: bytes) -> bool:
        try:
            document = _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        self._note_error(document)
        # A router may begin with the name it was asked for: the last one stands.
        self._model = self._words.text("model_served", document.model) or self._model
        choices = document.choices if isinstance(document.choices, list) else []
        self._usage.take(document.usage, passing=bool(choices))
        for choice in choices:
            if isinstance(choice, dict):
                self._choice(choice)
        return True

    def _note_error(self, document: _Document) -> None:
        if self._error is not None:
            return
        if isinstance(document.error, dict):
            self._error = _error(document.error)
        elif isinstance(document.error, str) and document.error:
            self._error = ProviderError(words=document.error)
        elif document.what == "error":  # vLLM before 0.11 sends the object unwrapped
            self._error = _error(
                {"message": document.message, "code": document.code, "type": document.kind}
            )

    def _choice(self, choice: dict[str, object]) -> None:
        # An empty word is no end (ollama/ollama#4357).
        raw = self._words.text("finish_raw", choice.get("finish_reason"))
        self._finish_raw = raw or self._finish_raw
        self._usage.take(choice.get("usage"))  # Moonshot (earendil-works/pi#2017)
        index = choice.get("index")
        for name in ("delta", "message"):
            part = choice.get(name)
            if isinstance(part, dict):
                self._part(part, index if isinstance(index, int) else 0)

    def _part(self, part: dict[str, object], choice: int) -> None:
        if part.get("content"):
            self._text = True
        if any(part.get(name) for name in ("reasoning_content", "reasoning", "reasoning_details")):
            self._reasoning = True
        self._calls.take(choice, part.get("tool_calls"), part.get("function_call"))


def _error(value: dict[str, object]) -> ProviderError:
    code = value.get("code")
    status = _whole_number(code)
    return ProviderError(
        words=_word(value.get("message")),
        code=_word(code),
        kind=_word(value.get("type")),
        param=_word(value.get("param")),
        status=status if status is not None and 400 <= status <= 599 else None,
    )


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


READER = DialectReader(
    read_request=read_request, new_fold=ChatFold, markers=(DONE, b'"error"', b'"network_error"')
)
