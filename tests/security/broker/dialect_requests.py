"""An ordinary request of each dialect, as its attempt declared it."""

from dataclasses import dataclass
from typing import Any

import msgspec

from fakes.launches import LIMIT, MODEL
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Effort


@dataclass(frozen=True)
class Ordinary:
    """Where it goes, what it holds, and the terms that it fits."""

    target: str
    body: dict[str, Any]
    effort: str = "max"

    def terms(self, dialect: Dialect) -> dict[str, Any]:
        return {"dialect": dialect, "effort": Effort(word=self.effort)}

    def encoded(self, more: dict[str, Any] | None = None) -> bytes:
        """With these fields on top, a level deep."""
        body = dict(self.body)
        for name, value in (more or {}).items():
            old = body.get(name)
            both = isinstance(old, dict) and isinstance(value, dict)
            body[name] = {**old, **value} if both else value
        return msgspec.json.encode(body)


ORDINARY: dict[Dialect, Ordinary] = {
    Dialect.OPENAI_CHAT: Ordinary(
        "/v1/chat/completions",
        {"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max", "messages": []},
    ),
    Dialect.OPENAI_RESPONSES: Ordinary(
        "/v1/responses",
        {
            "model": MODEL,
            "max_output_tokens": LIMIT,
            "reasoning": {"effort": "max"},
            "store": False,
            "input": [],
        },
    ),
    Dialect.ANTHROPIC_MESSAGES: Ordinary(
        "/v1/messages",
        {
            "model": MODEL,
            "max_tokens": LIMIT,
            "output_config": {"effort": "max"},
            "messages": [],
        },
    ),
    Dialect.GEMINI: Ordinary(
        f"/v1beta/models/{MODEL}:generateContent",
        {
            "contents": [],
            "generationConfig": {
                "maxOutputTokens": LIMIT,
                "thinkingConfig": {"thinkingLevel": "high"},
            },
        },
        "high",
    ),
}
