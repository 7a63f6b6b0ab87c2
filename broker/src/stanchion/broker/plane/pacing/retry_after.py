"""What a provider asks for in Retry-After, and what of it reaches the harness. Pure.

Some harnesses obey the header without a bound, so that an hour in it is an hour of silence: what
goes back is capped. It must never make a refusal without the header look like anything but one.
"""

import re
from email.utils import parsedate_to_datetime

CAP_MS = 30_000
ALWAYS = frozenset({429, 529})
"""Statuses that never go back without the header."""

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z")
_NAMES = frozenset({"retry-after", "retry-after-ms"})

Headers = list[tuple[str, str]]


def asked_ms(headers: Headers, *, wall_ms: int) -> int | None:
    """The wait that an answer asks for; None = it asks for none that can be read.

    A date (RFC 9110, section 10.2.3) counts from the provider's own Date, else from our clock.
    """
    exact = _get(headers, "retry-after-ms")
    if exact is not None and _SECONDS.match(exact):
        return round(float(exact))
    text = _get(headers, "retry-after")
    if text is None:
        return None
    if _SECONDS.match(text):
        return round(float(text) * 1000)
    then = _date_ms(text)
    if then is None:
        return None
    now = _date_ms(_get(headers, "date") or "")
    return max(0, then - (wall_ms if now is None else now))


def capped(headers: Headers, *, status: int, asked: int | None) -> tuple[Headers, int | None]:
    """The headers as they go back, and the wait in them."""
    kept = [(name, value) for name, value in headers if name.lower() not in _NAMES]
    if asked is None and status not in ALWAYS:
        return kept, None
    wait_ms = CAP_MS if asked is None else min(asked, CAP_MS)
    seconds = -(-wait_ms // 1000)
    return [*kept, ("retry-after", str(seconds))], seconds * 1000


def _get(headers: Headers, name: str) -> str | None:
    return next((value.strip() for key, value in headers if key.lower() == name), None)


def _date_ms(text: str) -> int | None:
    try:
        return round(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
