"""What Claude Code 2.1.332 makes of a model's name, whatever that model is.

Measured on the wire: each name asked with a limit of 128,000 and the effort `max`. A name counts
as of a family where it contains the family's words. Pure; it must never be asked which limit a
model ought to have.
"""

import re
from dataclasses import dataclass

CAP = 128_000
"""The variable for the limit is silently lowered to this for every model."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models whose limit or effort is changed by their name."""

    words: str
    """A pattern that is looked for in the name."""
    cap: int
    efforts: tuple[str, ...] = ()
    """Words that reach the wire as they are; the others become another one or nothing."""


FAMILIES = (
    Family(r"opus-4-5(?!\d)", 64_000, ("low", "medium", "high")),
    Family(r"sonnet-4-6(?!\d)", CAP, ("low", "medium", "high", "max")),
    Family(r"(?:sonnet|haiku)-4-5(?!\d)", 64_000),
    Family(r"opus-4(?:-[01])?(?!-?\d(?!\d{7}))", 32_000),
    Family(r"sonnet-4(?:-0)?(?!-?\d(?!\d{7}))", 64_000),
    Family(r"3-7-sonnet", 64_000),
    Family(r"3-5-(?:sonnet|haiku)", 8_192),
    Family(r"claude-3-(?:opus|haiku|sonnet)", 4_096),
)
ALIASES = ("default", "best", "opus", "sonnet", "haiku", "fable", "opusplan", "inherit")
"""Names that it resolves to a model of its own choice."""


def family(model: str) -> Family | None:
    """The family that the name falls in."""
    name = model.lower()
    return next((known for known in FAMILIES if re.search(known.words, name)), None)
