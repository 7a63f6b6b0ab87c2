"""Finds the bundles that a path stands for, and reads what a result beside one claims.

It decides what counts as an attempt: one without its bundle is reported, never passed over. It
must not look below an attempt's own directory, where files of the agent may lie.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.broker.receipts.bundle import Verified

BUNDLE_NAME = "receipts.bundle"
RESULT_NAME = "result.json"
JOB_NAME = "job.receipts"


class PathError(ValueError):
    """A path without anything to audit, or that cannot be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """One attempt to audit."""

    path: Path
    """The bundle, or the attempt directory that lacks one."""
    data: bytes | None
    """None = there is no bundle."""
    result: "Result | None"


class _Outcome(msgspec.Struct, frozen=True):
    reason: str | None = None


class _Receipts(msgspec.Struct, frozen=True):
    head: str | None = None


class Result(msgspec.Struct, frozen=True):
    """What a result file says that the signed close says too."""

    run: str | None = None
    attempt: int | None = None
    outcome: _Outcome = _Outcome()
    score: float | None = None
    receipts: _Receipts = _Receipts()


def find(path: Path) -> list[Found]:
    """Every attempt below a path, in order of name."""
    try:
        if path.is_file() and path.name != JOB_NAME:
            return [Found(path, path.read_bytes(), None)]
        path = path.parent if path.is_file() else path
        found = [_attempt(directory) for directory in _attempts(path)]
    except OSError as error:
        raise PathError(f"{error.filename}: cannot be read ({error.strerror})") from error
    if not found:
        raise PathError(
            f"{path}: no {BUNDLE_NAME} below it; name a bundle, an attempt directory or a result "
            f"directory"
        )
    return found


def find_jobs(path: Path) -> list[Path]:
    """The own receipts of jobs: this file, or those of a folder and of the folders in it."""
    if path.name == JOB_NAME:
        return [path]
    return sorted(file for file in (path / JOB_NAME, *path.glob(f"*/{JOB_NAME}")) if file.is_file())


def reports_beside(file: Path, names: Iterable[str]) -> dict[str, str]:
    """The digests of these files beside a job's receipts, as far as they are there."""
    places = {name: file.parent / name for name in names}
    return {
        name: hashlib.sha256(place.read_bytes()).hexdigest()
        for name, place in places.items()
        if place.is_file()
    }


def contradiction(bundle: Verified, result: Result | None) -> str | None:
    """The first thing that a result file says against the signed close beside it."""
    closing = bundle.closing
    if result is None or closing is None:
        return None
    signed = {
        "run": bundle.header.run,
        "attempt": bundle.header.attempt,
        "receipts.head": bundle.head,
        "outcome": closing.reason,
        "score": None if closing.score is None else _number(closing.score),
    }
    claimed = {
        "run": result.run,
        "attempt": result.attempt,
        "receipts.head": result.receipts.head,
        "outcome": result.outcome.reason,
        "score": result.score,
    }
    return next(
        (
            f"{RESULT_NAME} beside it says {name} {claimed[name]}, the receipts say {signed[name]}"
            for name in signed
            if signed[name] != claimed[name]
        ),
        None,
    )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _attempts(top: Path) -> list[Path]:
    attempts: list[Path] = []
    for folder, inner, files in os.walk(top, onerror=_raise):
        inner.sort()
        directory = Path(folder)
        if {BUNDLE_NAME, RESULT_NAME} & set(files) or directory.parent.name == "attempts":
            attempts.append(directory)
            inner.clear()
    return attempts


def _raise(error: OSError) -> None:
    raise error


def _attempt(directory: Path) -> Found:
    bundle, result = directory / BUNDLE_NAME, directory / RESULT_NAME
    if not bundle.exists():
        return Found(directory, None, None)
    claimed = _read_result(result) if result.exists() else None
    return Found(bundle, bundle.read_bytes(), claimed)


def _read_result(file: Path) -> Result:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PathError(f"{file}: not a result ({error})") from error
