"""Durations, sizes and counts as people read them; unknown stays a word, never 0. Pure."""

UNKNOWN = "unknown"


def duration(ms: float | None) -> str:
    """As `0.4 s`, `12 s`, `3 min 02 s` or `1 h 05 min`."""
    if ms is None:
        return UNKNOWN
    seconds = ms / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def size(size_bytes: int | None) -> str:
    """As `412 MB`."""
    return UNKNOWN if size_bytes is None else f"{size_bytes / 1e6:.0f} MB"


def count(number: int | None) -> str:
    """With separators from a thousand on."""
    return UNKNOWN if number is None else f"{number:,}"
