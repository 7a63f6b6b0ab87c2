"""The dialect of Gemini's generateContent: a path and a request body in, bytes of an answer out.

The shapes follow the Gemini API reference v1beta ("models.generateContent",
"models.streamGenerateContent", "models.list") and google.rpc `Status` for errors. What an answer
says is in `gemini_content`. It decides every byte of an answer and must never send one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stanchion.rehearsal.dialects.building import (
    Json,
    bearer_key,
    digest,
    field_of,
    paced,
    read_object,
    whole,
)
from stanchion.rehearsal.dialects.gemini_content import content_events, event, whole_response
from stanchion.rehearsal.dialects.reply import EVENT_STREAM, JSON, End, Identity, Reply
from stanchion.rehearsal.turns import Answer, Asked, Refusal

MODELS_PATH = "/v1beta/models"
FOLDERS = (f"{MODELS_PATH}/", "/v1/models/")
KEY_REFUSED = Refusal(
    status=400,
    message="API key not valid. Please send the rehearsal's key as x-goog-api-key: KEY.",
    code="API_KEY_INVALID",
)
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    504: "DEADLINE_EXCEEDED",
}


def at(path: str, alt: str | None) -> "Gemini | None":
    """The dialect as it is spoken at this path; None = at none of its paths."""
    folder = next((folder for folder in FOLDERS if path.startswith(folder)), None)
    if folder is None:
        return Gemini(model="", action="", alt=alt) if path.startswith("/v1beta/") else None
    model, _, action = path.removeprefix(folder).partition(":")
    return Gemini(model=model, action=action, alt=alt)


@dataclass(frozen=True)
class Gemini:
    """One request's address: the model stands there, and whether a stream is wanted."""

    model: str
    action: str
    alt: str | None

    REQUEST_ID_HEADER = "x-request-id"
    WRONG_KEY = KEY_REFUSED

    @property
    def is_served(self) -> bool:
        """Whether this address answers a POST."""
        known = self.action in {"generateContent", "streamGenerateContent"}
        return known and bool(self.model) and "/" not in self.model

    def presented_key(self, headers: Mapping[str, str]) -> str | None:
        """The key of x-goog-api-key, else of a bearer token."""
        return headers.get("x-goog-api-key") or bearer_key(headers)

    def understand(self, body: bytes) -> Asked | Refusal:
        """Read a request as leniently as a provider does; only what must be right is checked."""
        raw = read_object(body)
        if isinstance(raw, Refusal):
            return raw
        stream = self.action == "streamGenerateContent"
        if stream and self.alt != "sse":
            return Refusal(status=400, message="a stream is one of events here; add ?alt=sse")
        contents = raw.get("contents")
        if not isinstance(contents, list) or not contents:
            message = "contents must be a non-empty array; send the conversation"
            return Refusal(status=400, message=message, param="contents")
        config = _field(raw, "generationConfig", "generation_config")
        thinking = _field(config, "thinkingConfig", "thinking_config")
        return Asked(
            model=self.model,
            stream=stream,
            include_usage=True,
            tools=tuple(_tool_names(raw.get("tools"))),
            turns_taken=_turns_taken(contents),
            body_bytes=len(body),
            conversation=digest(contents),
            max_output_tokens=_field(config, "maxOutputTokens", "max_output_tokens"),
            reasoning_effort=_field(thinking, "thinkingLevel", "thinking_level"),
            thinking_budget_tokens=_field(thinking, "thinkingBudget", "thinking_budget"),
        )

    def render(self, asked: Asked, answer: Answer, identity: Identity) -> Reply:
        """The answer as the request asked for it: an event stream or one response."""
        if asked.stream:
            return Reply(
                status=200,
                content_type=EVENT_STREAM,
                pieces=paced(content_events(asked, answer, identity), answer.gap_ms),
                end=End.SILENT if answer.paused else End.CLEAN,
            )
        if answer.paused:
            return Reply(status=200, content_type=JSON, pieces=(), end=End.SILENT)
        return whole(200, whole_response(asked, answer, identity))

    def refuse(self, refusal: Refusal, _identity: Identity) -> Reply:
        """An error in Google's envelope."""
        return whole(refusal.status, _error(refusal))

    def error_event(self, refusal: Refusal) -> bytes:
        """The same object as an event of a stream (ankit373/hydra#869)."""
        return event(_error(refusal))

    def models(self, _created_s: int) -> Reply:
        """The answer to GET /v1beta/models. Requests may name any other model as well."""
        model = {
            "name": "models/rehearsal",
            "displayName": "Rehearsal",
            "supportedGenerationMethods": ["generateContent"],
        }
        return whole(200, {"models": [model]})


def _error(refusal: Refusal) -> Json:
    other = "UNAVAILABLE" if refusal.status >= 500 else "FAILED_PRECONDITION"
    error: Json = {
        "code": refusal.status,
        "message": refusal.message,
        "status": refusal.kind or _STATUSES.get(refusal.status, other),
    }
    if refusal.code is not None:
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        error["details"] = [{"@type": kind, "reason": refusal.code}]
    return {"error": error}


def _field(value: object, name: str, other: str) -> object:
    """A field in either spelling, which are one to the provider (protobuf's JSON mapping)."""
    found = field_of(value, name)
    return field_of(value, other) if found is None else found


def _tool_names(tools: object) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        declared = _field(tool, "functionDeclarations", "function_declarations")
        for function in declared if isinstance(declared, list) else ():
            name = field_of(function, "name")
            if isinstance(name, str):
                yield name


def _turns_taken(contents: list[object]) -> int:
    """Stretches of the model's contents after the first of a user, who needs no role."""
    roles = [field_of(content, "role") or "user" for content in contents]
    after = roles[roles.index("user") :] if "user" in roles else []
    return sum(
        role == "model" and before != "model"
        for before, role in zip([None, *after], after, strict=False)
    )
