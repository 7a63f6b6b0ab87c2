"""The environment that keepers and sandbox runtimes get: what a program needs, and no secrets.

Whatever else the caller's environment holds, such as provider keys, stays with the caller and the
broker.
"""

from collections.abc import Mapping

KEPT_NAMES = frozenset({"HOME", "LANG", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})
KEPT_PREFIXES = ("COVERAGE_", "LC_", "PYTHON", "XDG_")


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The part of it that may be passed on."""
    return {
        name: value
        for name, value in environment.items()
        if name in KEPT_NAMES or name.startswith(KEPT_PREFIXES)
    }
