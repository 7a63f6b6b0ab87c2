"""Reads the words of a chat completion request that matter, by the field that carried them. Pure.

Sources: OpenAI API reference, "Create chat completion" (`max_completion_tokens`, `max_tokens`,
`reasoning_effort`); OpenRouter documentation, "Reasoning tokens" (`reasoning.effort`,
`reasoning.max_tokens`); DeepSeek, Moonshot and GLM API references (`thinking.type`); Qwen API
reference (`enable_thinking`, `thinking_budget`); vLLM documentation, "Reasoning outputs"
(`chat_template_kwargs`). Where two fields for one thing differ, nobody knows which of them counts
(vllm-project/vllm#35705): the value is malformed, and both are kept.
"""

import hashlib
from collections.abc import Mapping

from stanchion.broker.plane.dialects.words import Words
from stanchion.protocol.exchange import Asked

_ABOUT_THINKING = frozenset(
    {"thinking", "thinking_budget", "reasoning", "enable_thinking", "chat_template_kwargs"}
)
_SWITCH = {True: "enabled", False: "disabled"}
"""The words of those vendors whose switch has some."""


def read_request(body: Mapping[str, object], raw: bytes) -> Asked:
    """The words of a request."""
    words = Words()
    nested = words.inside("effort", body.get("reasoning"), "effort")
    limits = {name: body.get(name) for name in ("max_completion_tokens", "max_tokens")}
    efforts = {"reasoning_effort": body.get("reasoning_effort"), "reasoning.effort": nested}
    limit_field, limit = words.one("output_limit", limits)
    effort_field, effort = words.one("effort", efforts)
    thinks = not _ABOUT_THINKING.isdisjoint(body)
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
        thinking=_thinking(words, body) if thinks else None,
        thinking_budget=_budget(words, body) if thinks else None,
        malformed=words.malformed,
    )


def _budget(words: Words, body: Mapping[str, object]) -> int | None:
    budgets = {
        "thinking.budget_tokens": _member(body.get("thinking"), "budget_tokens"),
        "thinking_budget": body.get("thinking_budget"),
        "reasoning.max_tokens": _member(body.get("reasoning"), "max_tokens"),
    }
    return words.whole("thinking_budget", words.one("thinking_budget", budgets)[1])


def _thinking(words: Words, body: Mapping[str, object]) -> str | None:
    """The type of the setting, or what a switch stands for."""
    template = body.get("chat_template_kwargs")
    switches = {
        "enable_thinking": body.get("enable_thinking"),
        "chat_template_kwargs.enable_thinking": _member(template, "enable_thinking"),
        "chat_template_kwargs.thinking": _member(template, "thinking"),
    }
    said = {
        "thinking.type": words.inside("thinking", body.get("thinking"), "type"),
        **{name: _word_of(value) for name, value in switches.items()},
    }
    return words.text("thinking", words.one("thinking", said)[1])


def _word_of(switch: object) -> object:
    return _SWITCH[switch] if isinstance(switch, bool) else switch


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
