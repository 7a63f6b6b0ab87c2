"""Text that was broken into lines, read as if it were not. Pure.

A line's end is CRLF or LF, as it is or as JSON and URLs escape it. It must never change one, nor
any byte but those that the reader of the joined lines changes.

Sources: RFC 2045 section 6.8 and RFC 7468 section 2 (base64 in lines of 76 and 64 characters).
"""

import re
from collections.abc import Callable
from typing import Final

LINE: Final = 60
"""A line has at least so many characters: within so many there is no more than one end."""
LONGEST_END: Final = len(r"\\\\u000d\\\\u000a")

_RETURN: Final = r"(?:\r|\\{1,4}(?:r|u000[dD])|%0[dD])"
_END = re.compile(rf"({_RETURN}?(?:\n|\\{{1,4}}(?:n|u000[aA])|%0[aA]))".encode())
_BEGUN: Final = r"(?:\\{1,4}(?:u(?:00?0?)?)?|%0?)"
_BEGUN_END = re.compile(rf"(?:{_RETURN}{_BEGUN}?|{_BEGUN})\Z".encode())


def changed_across(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """With `change`, which keeps the length, made to the joined lines."""
    parts = _END.split(data)
    if len(parts) == 1:
        return change(data)
    joined = b"".join(parts[::2])
    changed = change(joined)
    if changed is joined:
        return data
    at = 0
    for place in range(0, len(parts), 2):
        end = at + len(parts[place])
        parts[place], at = changed[at:end], end
    return b"".join(parts)


def found_across(data: bytes, pattern: re.Pattern[bytes]) -> int | None:
    """Where the pattern begins in the joined lines; an end that has only begun is none of them."""
    begun = _BEGUN_END.search(data)
    parts = _END.split(data if begun is None else data[: begun.start()])
    match = pattern.search(b"".join(parts[::2]))
    if match is None:
        return None
    at, left = 0, match.start()
    for place in range(0, len(parts), 2):
        if left < len(parts[place]):
            return at + left
        left -= len(parts[place])
        at += sum(map(len, parts[place : place + 2]))
    return at
