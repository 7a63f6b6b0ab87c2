"""Reads Gemini's generateContent: requests, event streams, arrays and whole bodies. Pure.

Source: Gemini API reference v1beta, "models.generateContent", "models.streamGenerateContent" and
"GenerateContentResponse"; the enums of google-genai 3.6. Deviations carry the issue they were
reported in. It reads copies and never rewrites. An error object beats everything; no event says
that it is the last one, so a reason that content follows was no ending.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from stanchion.broker.plane.dialects.base import (
    DialectReader,
    ProviderError,
    ResponseFold,
    Told,
    an_id,
)
from stanchion.broker.plane.dialects.gemini_errors import read_error
from stanchion.broker.plane.dialects.gemini_parts import Parts
from stanchion.broker.plane.dialects.gemini_usage import UsageFold
from stanchion.broker.plane.dialects.words import Words
from stanchion.protocol.dialects import Dialect, knows_effort
from stanchion.protocol.exchange import Asked, Finish

FINISHES = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    "CONTINUATION": Finish.LENGTH,
    "SAFETY": Finish.CONTENT_FILTER,
    "RECITATION": Finish.CONTENT_FILTER,
    "LANGUAGE": Finish.CONTENT_FILTER,
    "BLOCKLIST": Finish.CONTENT_FILTER,
    "PROHIBITED_CONTENT": Finish.CONTENT_FILTER,
    "SPII": Finish.CONTENT_FILTER,
    "ESCALATION": Finish.CONTENT_FILTER,
    "PUP_LIMITED_DISABLED": Finish.CONTENT_FILTER,
    "MODEL_ARMOR": Finish.CONTENT_FILTER,
    "IMAGE_SAFETY": Finish.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": Finish.CONTENT_FILTER,
    "IMAGE_RECITATION": Finish.CONTENT_FILTER,
}
"""Every other word is unknown: OTHER says so itself, and a malformed call or response is no turn
that a harness could go on from."""

MALFORMED_CALL = "MALFORMED_FUNCTION_CALL"
MAX_STRAY_BYTES = 16 * 1024

_LIMIT = ("maxOutputTokens", "max_output_tokens")
_CONFIG = ("generationConfig", "generation_config")
_THINKING = ("thinkingConfig", "thinking_config")
_LEVEL = ("thinkingLevel", "thinking_level")
_BUDGET = ("thinkingBudget", "thinking_budget")
"""Both spellings are one field to the provider (protobuf's JSON mapping)."""


class _Document(msgspec.Struct):
    """The members of an event or a whole response that matter; anything may be of any type."""

    candidates: object = None
    feedback: object = msgspec.field(default=None, name="promptFeedback")
    usage: object = msgspec.field(default=None, name="usageMetadata")
    model: object = msgspec.field(default=None, name="modelVersion")
    id: object = msgspec.field(default=None, name="responseId")
    error: object = None


_decoder = msgspec.json.Decoder(_Document | list[_Document])


def read_request(body: Mapping[str, object], raw: bytes) -> Asked:
    """The words of a request that matter, by the field that carried them.

    Model and stream are in the path (`path_model`); a model named here as well is kept for the
    comparison with it.
    """
    config_name, config = _spelled(body, _CONFIG)
    limit_name, limit = _spelled(config, _LIMIT)
    thinking_name, thinking = _spelled(config, _THINKING)
    level_name, level = _spelled(thinking, _LEVEL)
    words = Words()
    said = words.text("effort", level)
    return Asked(
        model=words.text("model", body.get("model")),
        output_limit=words.whole("output_limit", limit),
        output_limit_field=None if limit is None else f"{config_name}.{limit_name}",
        effort=None if said is None else _word(said),
        effort_field=None if level is None else f"{config_name}.{thinking_name}.{level_name}",
        stream=None,
        fields=tuple(sorted(body)),
        body_sha256=hashlib.sha256(raw).hexdigest(),
        body_bytes=len(raw),
        thinking_budget=words.whole("thinking_budget", _spelled(thinking, _BUDGET)[1]),
        malformed=words.malformed,
    )


def _spelled(value: object, names: tuple[str, str]) -> tuple[str, object]:
    """The member and how it was spelled; unknown where it is there twice, which no request that
    is sent has (`fields.policy`).
    """
    members = value if isinstance(value, Mapping) else {}
    there = [name for name in names if name in members]
    return (there[0], members[there[0]]) if len(there) == 1 else (names[0], None)


def _word(level: str) -> str:
    """The dialect's word for a level: an enum's name, which the REST examples write in lower case
    and the SDKs in upper case (google-genai's `ThinkingLevel`).
    """
    lower = level.lower()
    return lower if level.isascii() and knows_effort(Dialect.GEMINI, lower) else level


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class GenerateFold:
    """Collects what one response says, from events, an array or a whole body."""

    done = False
    """No event says that it is the last one: only the end of the stream does."""

    def __init__(self) -> None:
        self._closing = False
        """Whether the last event said why the response ended, and may have been the last one."""
        self._stray = b""
        """Of a JSON document outside of any event, what came."""
        self._went_on = False
        self._error: ProviderError | None = None
        self._finishes: dict[int, str | None] = {}
        self._blocked: str | None = None
        self._model: str | None = None
        self._id: str | None = None
        self._words = Words()
        self._usage = UsageFold()
        self._parts = Parts()

    @property
    def failed(self) -> bool:
        """Whether an error object came."""
        return self._error is not None

    @property
    def closing(self) -> bool:
        """Whether what came last may end the response."""
        return self._closing or bool(self._stray)

    def stream_event(self, data: bytes) -> bool:
        """One event's data.

        Servers have sent a reason in every event (BerriAI/litellm#2195): after the first one that
        was followed by more, none is taken for the last.
        """
        self._went_on = self._went_on or self._closing
        self._closing = False
        self._stray = b""
        if not self._document(data):
            return False
        self._closing = self._finish_raw() is not None and not self._went_on
        return True

    def whole_body(self, data: bytes) -> bool:
        """A response that was not streamed, or streamed as one array (ankit373/hydra#855)."""
        return self._document(data)

    def stray_line(self, text: bytes) -> None:
        """Servers have sent their error as bare JSON, on one line (googleapis/js-genai#1973) or
        over several (theopenco/llmgateway#3616).
        """
        if not self._stray and not text.startswith((b"{", b"[")):
            return
        self._stray += text + b"\n"
        closed = text.rstrip().endswith((b"}", b"]"))
        if (closed and self._document(self._stray)) or len(self._stray) > MAX_STRAY_BYTES:
            self._stray = b""

    def told(self) -> Told:
        """Everything so far."""
        parts, raw = self._parts, self._finish_raw()
        reported = self._usage.report(
            produced=parts.text or parts.whole_calls > 0,
            reasoned=parts.thinking,
            ended=raw is not None,
        )
        counted = reported.usage.reasoning_tokens if reported.usage is not None else None
        return Told(
            error=self._error,
            finish=None if raw is None else self._finish(raw),
            finish_raw=raw,
            model=self._model,
            reported=reported,
            reasoning=parts.thinking or self._usage.thought or bool(counted),
            text=parts.text,
            tool_calls=parts.whole_calls,
            cut_calls=parts.cut_calls + (raw == MALFORMED_CALL),
            response_id=self._id,
            call_ids=tuple(parts.call_ids),
            malformed=self._words.malformed,
        )

    def _finish_raw(self) -> str | None:
        """Of the first candidate; of a prompt that was blocked, why."""
        first = self._finishes[min(self._finishes)] if self._finishes else None
        return first if first is not None else self._blocked

    def _finish(self, raw: str) -> Finish:
        if raw == self._blocked:
            return Finish.CONTENT_FILTER
        finish = FINISHES.get(raw, Finish.UNKNOWN)
        called = finish is Finish.STOP and self._parts.whole_calls > 0
        return Finish.TOOL_USE if called else finish

    def _document(self, data: bytes) -> bool:
        try:
            decoded = _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        documents = decoded if isinstance(decoded, list) else [decoded]
        for document in documents:
            self._take(document)
        return bool(documents)

    def _take(self, document: _Document) -> None:
        if self._error is None:
            self._error = read_error(document.error)
        if self._model is None:
            self._model = self._words.text("model_served", document.model) or None
        self._id = self._id or an_id(document.id)
        self._usage.take(document.usage)
        feedback = document.feedback
        blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if isinstance(blocked, str) and blocked:
            self._blocked = blocked
        for candidate in document.candidates if isinstance(document.candidates, list) else ():
            if isinstance(candidate, dict):
                self._candidate(candidate)

    def _candidate(self, candidate: dict[str, object]) -> None:
        index = _whole_number(candidate.get("index")) or 0
        content = candidate.get("content")
        came = self._parts.take(content.get("parts") if isinstance(content, dict) else None)
        raw = self._words.text("finish_raw", candidate.get("finishReason"))
        if raw:
            self._finishes[index] = raw
        elif came or index not in self._finishes:  # router-for-me/CLIProxyAPI#5651
            self._finishes[index] = None


def _may_be_last(fold: ResponseFold) -> bool:
    return isinstance(fold, GenerateFold) and fold.closing


READER = DialectReader(
    read_request=read_request,
    new_fold=GenerateFold,
    markers=(b'"finishReason"', b'"blockReason"', b'"error"'),
    may_be_last=_may_be_last,
)
