"""Compares a record with what its fixture expects: every word of it, an absent one as null.

`error_words` and `usage_why` are compared where they are named, and never without their reason:
what is unknown says why.
"""

from typing import Any

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
    "output_includes_reasoning": None,
}
"""Compared in every fixture, and what a fixture means that does not name them."""
NO_ANSWER = frozenset({"asked", "mismatch", "refused", "retry_after_asked_ms"})
"""Expectations that are not of the answer."""


def assert_answered(answered: Answered, expected: dict[str, Any]) -> None:
    """The record is the expected one."""
    named = {name: value for name, value in expected.items() if name not in NO_ANSWER}
    usage = answered.usage or Usage()
    wanted = {"result": None, **dict.fromkeys(USAGE), **_ABSENT, **named}
    found = {name: getattr(usage if name in USAGE else answered, name) for name in wanted}
    assert found == wanted
    unknown = usage.input_tokens is None or usage.output_tokens is None
    assert bool(answered.usage_why) == unknown or "usage_why" in named
