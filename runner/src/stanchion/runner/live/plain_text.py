"""Text that a sandbox wrote, made fit for a terminal. Pure.

An agent's words must never move the cursor, change colours or title, or hide other words; nothing
that is shown to people goes around this.
"""

import unicodedata

ELLIPSIS = "…"
_KEPT = "\n\t"
_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control, format (bidirectional overrides too), halves of pairs, private use, separators."""


def plain(text: str) -> str:
    """The text with each character that is more than a character replaced by U+FFFD."""
    text = text.replace("\r\n", "\n")
    return "".join(
        char if char in _KEPT or unicodedata.category(char) not in _HIDING else "\ufffd"
        for char in text
    )


def one_line(text: str, width: int) -> str:
    """All of it in one line of at most so many characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= width else line[: max(0, width - 1)] + ELLIPSIS


def first_lines(text: str, count: int) -> str:
    """The first lines, and how many more there are."""
    lines = plain(text).rstrip("\n").split("\n")
    left = len(lines) - count
    return "\n".join(lines) if left <= 0 else "\n".join([*lines[:count], f"{ELLIPSIS} {left} more"])
