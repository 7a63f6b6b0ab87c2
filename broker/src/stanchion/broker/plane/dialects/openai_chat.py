"""Reads OpenAI chat completions: requests, streams and whole bodies. Pure.

Source: OpenAI API reference, "Create chat completion" and "Chat completion chunk"; deviations of
compatible servers carry the page or the issue they were found in. It reads copies, never rewrites.
"""

from stanchion.broker.plane.dialects.base import (
    DialectReader,
    ProviderError,
    ResponseFold,
    Told,
    an_id,
)
from stanchion.broker.plane.dialects.chat_document import (
    decoded,
    error_in,
    error_of,
    is_plain,
    plain_chunk,
)
from stanchion.broker.plane.dialects.chat_frame import frame_of
from stanchion.broker.plane.dialects.chat_parts import Parts
from stanchion.broker.plane.dialects.chat_request import read_request
from stanchion.broker.plane.dialects.openai_usage import UsageFold
from stanchion.broker.plane.dialects.tool_calls import ToolCalls
from stanchion.broker.plane.dialects.words import Words
from stanchion.broker.plane.frame import Frame
from stanchion.protocol.exchange import Finish

DONE = b"[DONE]"

FINISHES = {
    "stop": Finish.STOP,
    "tool_calls": Finish.TOOL_USE,
    "function_call": Finish.TOOL_USE,
    "length": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
    "error": Finish.ERROR,  # OpenRouter documentation, "Errors"
    "insufficient_system_resource": Finish.ERROR,  # DeepSeek API reference, "finish_reason"
    "abort": Finish.ERROR,  # vLLM, vllm/v1/engine: neither a stop nor the limit
    "network_error": Finish.ERROR,  # GLM API reference; promptfoo/promptfoo#9905
    "sensitive": Finish.CONTENT_FILTER,  # GLM API reference
    "model_context_window_exceeded": Finish.LENGTH,  # GLM API reference
    "model_length": Finish.LENGTH,  # Mistral API reference
}
"""Every other word is unknown."""


class ChatFold:
    """Collects what one response says, from chunks or from a whole body."""

    def __init__(self) -> None:
        self.done = False
        self._error: ProviderError | None = None
        self._finish_raw: str | None = None
        self._model: str | None = None
        self._id: str | None = None
        self._words = Words()
        self._usage = UsageFold()
        self._parts = Parts()
        self._calls = ToolCalls()
        self._plain = False
        """Whether the last event had plain text: the next one has, as a rule."""

    @property
    def failed(self) -> bool:
        """Whether an error object or an error's finish came."""
        return self._error is not None or FINISHES.get(self._finish_raw or "") is Finish.ERROR

    def stream_event(self, data: bytes) -> bool:
        """One event's data; [DONE] or a chunk."""
        if self._plain:
            chunk = plain_chunk(data)
            if chunk is not None:
                if chunk.model != self._model or self._id is None:
                    self._named(chunk.model, chunk.id)
                choice = chunk.choices[0]
                self._parts.text_came(choice.index, choice.delta.content)
                return True
            self._plain = False
        if data.strip() == DONE:
            self.done = True
            return True
        return self._document(data)

    def frame(self, data: bytes) -> Frame | None:
        """What stands around the text of this chunk, if more text tells nothing new."""
        return frame_of(data, self._parts, lambda: self._model)

    def whole_body(self, data: bytes) -> bool:
        """A response that was not streamed."""
        return self._document(data)

    def stray_line(self, text: bytes) -> None:
        """Servers have sent their error as a bare JSON line (googleapis/js-genai#1973)."""
        if text.startswith(b"{") and b'"error"' in text:
            self._document(text)

    def told(self) -> Told:
        """Everything so far."""
        raw, whole = self._finish_raw, self._calls.whole()
        text, reasoned = self._parts.text, self._parts.reasoning
        reported = self._usage.report(
            produced=text or reasoned or whole > 0, reasoned=reasoned, ended=raw is not None
        )
        counted = reported.usage.reasoning_tokens if reported.usage is not None else None
        return Told(
            error=self._error,
            finish=None if raw is None else FINISHES.get(raw, Finish.UNKNOWN),
            finish_raw=raw,
            model=self._model,
            reported=reported,
            reasoning=reasoned or bool(counted),
            text=text,
            tool_calls=whole,
            cut_calls=self._calls.cut(),
            response_id=self._id,
            call_ids=self._calls.ids(),
            malformed=self._words.malformed,
        )

    def _document(self, data: bytes) -> bool:
        document = decoded(data)
        if document is None:
            return False
        if self._error is None and not is_plain(document):
            self._error = error_in(document)
        self._named(document.model, document.id)
        choices = document.choices if isinstance(document.choices, list) else []
        if document.usage is not None:
            self._usage.take(document.usage, passing=bool(choices))
        for choice in choices:
            if isinstance(choice, dict):
                self._choice(choice)
        return True

    def _named(self, model: object, identity: object) -> None:
        if model != self._model:
            # A router may begin with the name it was asked for: the last one stands.
            self._model = self._words.text("model_served", model) or self._model
        if self._id is None:
            self._id = an_id(identity)

    def _choice(self, choice: dict[str, object]) -> None:
        finish = choice.get("finish_reason")
        if finish is not None:  # an empty word is no end (ollama/ollama#4357)
            self._finish_raw = self._words.text("finish_raw", finish) or self._finish_raw
        error = choice.get("error")
        if isinstance(error, dict) and self._error is None:  # OpenRouter documentation, "Errors"
            self._error = error_of(error)
        self._usage.take(choice.get("usage"))  # Moonshot (earendil-works/pi#2017)
        index = choice.get("index")
        for name in ("delta", "message"):
            part = choice.get(name)
            if isinstance(part, dict):
                self._part(part, index if isinstance(index, int) else 0)

    def _part(self, part: dict[str, object], choice: int) -> None:
        content = part.get("content")
        if len(part) == 1 and isinstance(content, str):  # as most events of a stream are
            self._parts.text_came(choice, content)
            self._plain = True
            return
        self._parts.take(choice, part)
        self._calls.take(choice, part.get("tool_calls"), part.get("function_call"))


_ERRORS = tuple(word for word, finish in FINISHES.items() if finish is Finish.ERROR)


def _frame(fold: ResponseFold, data: bytes) -> Frame | None:
    return fold.frame(data) if isinstance(fold, ChatFold) else None


READER = DialectReader(
    read_request=read_request,
    new_fold=ChatFold,
    markers=(DONE, *(f'"{word}"'.encode() for word in _ERRORS)),
    frame=_frame,
)
