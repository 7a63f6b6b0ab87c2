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
    limit_field = next(
        (name for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None),
        None,
    )
    effort, effort_field = _effort(body)
    model, stream = body.get("model"), body.get("stream")
    return Asked(
        model=model if isinstance(model, str) else None,
        output_limit=None if limit_field is None else _whole_number(body[limit_field]),
        output_limit_field=limit_field,
        effort=effort,
        effort_field=effort_field,
        stream=stream if isinstance(stream, bool) else None,
        fields=tuple(sorted(body)),
        body_sha256=hashlib.sha256(raw).hexdigest(),
        body_bytes=len(raw),
    )


def _effort(body: Mapping[str, object]) -> tuple[str | None, str | None]:
    word = body.get("reasoning_effort")
    if isinstance(word, str):
        return word, "reasoning_effort"
    reasoning = body.get("reasoning")
    nested = reasoning.get("effort") if isinstance(reasoning, dict) else None
    return (nested, "reasoning.effort") if isinstance(nested, str) else (None, None)


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class ChatFold:
    """Collects what one response says, from chunks or from a whole body."""

    def __init__(self) -> None:
        self.done = False
        self._error: ProviderError | None = None
        self._finish_raw: str | None = None
        self._model: str | None = None
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
        usage, usage_why = self._usage.read(produced=self._text or self._reasoning or whole > 0)
        counted = usage.reasoning_tokens if usage is not None else None
        return Told(
            error=self._error,
            finish=finish,
            finish_raw=self._finish_raw,
            model=self._model,
            usage=usage,
            usage_why=usage_why,
            reasoning=self._reasoning or bool(counted),
            text=self._text,
            tool_calls=whole,
            cut_calls=self._calls.cut(),
        )

    def _document(self, data: bytes) -> bool:
        try:
            document = _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        self._note_error(document)
        if isinstance(document.model, str) and document.model:
            self._model = document.model  # a router may begin with the name it was asked for
        self._usage.take(document.usage)
        choices = document.choices if isinstance(document.choices, list) else []
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
        raw = choice.get("finish_reason")
        if isinstance(raw, str) and raw:  # an empty word is no end (ollama/ollama#4357)
            self._finish_raw = raw
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
