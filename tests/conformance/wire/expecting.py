"""Compares a record with what its fixture expects: every word of it, an absent one as null.

`error_words` and `usage_why` are compared where they are named, and never without their reason:
what is unknown says why.
"""

from typing import Any

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered
from stanchion.protocol.usage import Usage

USAGE = Usage.__struct_fields__
_ABSENT: dict[str, object] = {
    "error_class": None,
    "finish": None,
    "finish_raw": None,
    "model_served": None,
    "reasoning_present": None,
    "text_present": False,
    "tool_calls": 0,
    "cut_tool_calls": 0,
    "malformed": {},
}
"""Compared in every fixture, and what a fixture means that does not name them."""
INCLUDES: dict[Dialect, tuple[bool | None, bool | None]] = {
    Dialect.OPENAI_CHAT: (True, True),
    Dialect.OPENAI_RESPONSES: (True, True),
    Dialect.ANTHROPIC_MESSAGES: (False, True),
    Dialect.GEMINI: (None, False),
}
"""Whether input includes the cache and output the reasoning, where a fixture with figures does not
say otherwise."""
NO_ANSWER = frozenset({"asked", "denied", "mismatch", "retry_after_asked_ms", "unread"})
"""Expectations that are not of the answer."""


def assert_answered(answered: Answered, expected: dict[str, Any], dialect: Dialect) -> None:
    """The record is the expected one."""
    named = {name: value for name, value in expected.items() if name not in NO_ANSWER}
    usage = answered.usage or Usage()
    implied = _implied(expected, dialect)
    wanted = {"result": None, **dict.fromkeys(USAGE), **_ABSENT, **implied, **named}
    found = {name: getattr(usage if name in USAGE else answered, name) for name in wanted}
    found["flags"] = list(answered.flags)
    assert found == wanted
    unknown = usage.input_tokens is None or usage.output_tokens is None
    assert bool(answered.usage_why) == unknown or "usage_why" in named


def _implied(expected: dict[str, Any], dialect: Dialect) -> dict[str, object]:
    """What a fixture means by naming figures, or none; and where nobody could read (`unread`)."""
    figures = any(name in expected for name in USAGE)
    cache, reasoning = INCLUDES[dialect] if figures else (None, None)
    absent = expected.get("result") == "completed" and not figures
    unread = ("text_present", "tool_calls", "cut_tool_calls")
    blind = expected.get("result") == "unreadable" or expected.get("unread", False)
    return {
        **dict.fromkeys(unread if blind else ()),
        "input_includes_cache": cache,
        "output_includes_reasoning": reasoning,
        "flags": ["usage_absent"] if absent else [],
    }
