"""A turn as the script says it, for every dialect to render."""

from typing import Any

from stanchion.rehearsal.dialects.reply import Identity
from stanchion.rehearsal.script import Usage
from stanchion.rehearsal.turns import Answer

IDENTITY = Identity(token="0123456789abcdef0123456789abcdef", created_s=1_700_000_000)


USAGE = Usage(prompt_tokens=10, completion_tokens=5, reasoning_tokens=2)


def answer(**fields: Any) -> Answer:
    defaults: dict[str, Any] = {
        "turn": 0,
        "reasoning": "",
        "text": "",
        "calls": (),
        "finish": None,
        "usage": USAGE,
        "gap_ms": 5,
        "hold_s": 0.0,
        "paused": False,
    }
    return Answer(**{**defaults, **fields})
