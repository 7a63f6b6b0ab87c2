"""Which attempt somebody means by RUN: an attempt's id, a run's, or the beginning of one. Pure."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from stanchion.protocol.refusal import RefusedError, refuse

T = TypeVar("T")

_NAME = re.compile(r"(?P<run>[0-9a-f]{4,12})(\.(?P<number>[1-9][0-9]{0,5}))?\Z")
SHORTEST = 4
"""Characters of a run's id that must be given."""


def looks_like_run(name: str) -> bool:
    """Whether it can be a run's name at all."""
    return _NAME.match(name) is not None


def match_run(name: str, known: Sequence[T], id_of: Callable[[T], str]) -> T | None:
    """The attempt that is meant, of a run its newest; None where none is.

    RefusedError where several runs begin so, or where it can be no run's name.
    """
    match = _NAME.match(name)
    if match is None:
        raise unknown_run(name)
    runs = {id_of(one).partition(".")[0] for one in known}
    meant = sorted(run for run in runs if run.startswith(match["run"]))
    if match["run"] in meant:
        meant = [match["run"]]
    if len(meant) > 1:
        raise refuse(
            "run_ambiguous",
            field="RUN",
            value=name,
            rule=f"{len(meant)} runs begin so: {', '.join(meant[:5])}",
            remedy="Give more of it",
        )
    attempts = [one for one in known if id_of(one).partition(".")[0] in meant]
    if match["number"] is not None:
        attempts = [one for one in attempts if id_of(one).partition(".")[2] == match["number"]]
    return max(attempts, key=lambda one: int(id_of(one).partition(".")[2]), default=None)


def unknown_run(name: str) -> RefusedError:
    """What to say of a name that names nothing."""
    return refuse(
        "run_unknown",
        field="RUN",
        value=name[:80],
        rule="it is neither a path nor the id of a run that this state folder knows, "
        f"nor the first {SHORTEST} or more characters of one",
        remedy="See stanchion ps --all",
    )
