"""Names of runs and attempts.

A *run* is what was asked for (task, model, harness, limits); an *attempt* is one execution of it in
one fresh sandbox, counted from 1. Ids are random and carry no meaning.
"""

import re
from typing import NewType

RunId = NewType("RunId", str)
"""12 lower-case hex digits, minted by whoever launches the run."""

AttemptId = NewType("AttemptId", str)
"""`<run>.<number>`, for example `7f3a90c41b22.1`; also the id in the broker's HTTP paths."""

_RUN = re.compile(r"[0-9a-f]{12}\Z")
_ATTEMPT = re.compile(r"(?P<run>[0-9a-f]{12})\.(?P<number>[1-9][0-9]{0,5})\Z")


def run_id(text: str) -> RunId:
    """The text as a run id; ValueError names the rule."""
    if not _RUN.match(text):
        raise ValueError(f"run id {text!r} is not 12 lower-case hex digits")
    return RunId(text)


def attempt_id(run: RunId, number: int) -> AttemptId:
    """The id of the run's attempt with this number (from 1)."""
    return parse_attempt_id(f"{run}.{number}")


def parse_attempt_id(text: str) -> AttemptId:
    """The text as an attempt id; ValueError names the rule."""
    if not _ATTEMPT.match(text):
        raise ValueError(f"attempt id {text!r} is not RUN.NUMBER, as in 7f3a90c41b22.1")
    return AttemptId(text)


def split_attempt_id(attempt: AttemptId) -> tuple[RunId, int]:
    """The run and the number of an attempt id."""
    run, _, number = attempt.partition(".")
    return RunId(run), int(number)
