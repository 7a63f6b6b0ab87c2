"""The folder that a command leaves behind: `job.json`, one line an attempt, a summary.

A folder that holds results is never written over. Files appear whole or not at all; readers need no
broker.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.protocol.codec import CodecError, decode, encode_line
from stanchion.protocol.refusal import refuse
from stanchion.protocol.result import AttemptResult
from stanchion.runner.results.summary import Summary, summarise, summary_text

JOB, RESULTS, SUMMARY, SUMMARY_TEXT = "job.json", "results.jsonl", "summary.json", "summary.txt"
RESULT = "result.json"
ATTEMPTS = "attempts"
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, as `job.json`."""

    version: int = 1
    kind: str
    """`run` | `demo`; only a demo's folder is ever replaced."""
    started_at: str
    """UTC, ISO 8601."""
    tasks: tuple[str, ...]
    harness: str
    model: str
    effort: str | None
    output_limit: int | None


def default_folder(base: Path, *, day: str, name: str) -> Path:
    """`stanchion-runs/<date>-<name>`, with a number where that exists."""
    wanted = base / "stanchion-runs" / f"{day}-{_UNFIT.sub('-', name).strip('-')}"
    folder, number = wanted, 2
    while folder.exists():
        folder = wanted.with_name(f"{wanted.name}-{number}")
        number += 1
    return folder


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What every version of `job.json` may say."""

    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class JobFolder:
    """A result folder being written."""

    path: Path

    @classmethod
    def create(cls, path: Path, job: msgspec.Struct) -> "JobFolder":
        """A fresh one; RefusedError where results are already there."""
        path = path.absolute()
        if (path / JOB).exists() or (path.is_dir() and any(path.iterdir())):
            raise refuse(
                "folder_taken",
                field="-o",
                value=path,
                rule="the folder holds results or other files already",
                remedy="name another folder with -o, or remove this one",
            )
        (path / ATTEMPTS).mkdir(parents=True)
        write_json(path / JOB, job)
        return cls(path)

    def attempt(self, name: str, number: int) -> Path:
        """The folder of one attempt; one that was begun and never got an order is used again."""
        folder = self.path / ATTEMPTS / f"{name}__{number}"
        folder.mkdir(exist_ok=True)
        return folder

    def add(self, result: AttemptResult) -> Summary:
        """One more attempt has ended; the summary so far, of a folder without a plan."""
        self.append(result)
        summary = summarise(read_results(self.path))
        self.write_summary(summary)
        return summary

    def append(self, result: AttemptResult) -> None:
        """Its line in `results.jsonl`, whole."""
        with (self.path / RESULTS).open("ab", buffering=0) as file:
            file.write(encode_line(result))

    def mend_lines(self, results: Sequence[AttemptResult]) -> None:
        """After a crash: a line for each of these results, those that are there in their order."""
        file = self.path / RESULTS
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        wanted = {(result.run, result.attempt): result for result in results}
        kept = [line for line in lines if _is_of(line, wanted)]
        kept += [encode_line(result) for result in wanted.values()]
        if kept != lines:
            write_whole(file, b"".join(kept))

    def write_summary(self, summary: Summary) -> None:
        """Both forms of it, each whole."""
        write_json(self.path / SUMMARY, summary)
        write_whole(self.path / SUMMARY_TEXT, summary_text(summary).encode())

    def discard(self) -> None:
        """Take it back where nothing was started: the same command must work once it is mended."""
        if not any(self.path.glob(f"{ATTEMPTS}/*/{RESULT}")):
            shutil.rmtree(self.path)


def replace_demo(path: Path) -> None:
    """Remove the folder of an earlier demo; RefusedError for anything else."""
    if not path.exists():
        return
    try:
        kind = decode((path / JOB).read_bytes(), Job).kind
    except (OSError, ValueError):
        kind = None
    if kind != "demo":
        raise refuse(
            "folder_taken",
            field="-o",
            value=path,
            rule="the folder is not a demo's, so the demo does not replace it",
            remedy="name another folder with -o",
        )
    shutil.rmtree(path)


def read_results(path: Path) -> list[AttemptResult]:
    """The results below a path: a job's folder, an attempt's folder or a result.json."""
    return [decode(file.read_bytes(), AttemptResult) for file in result_files(path)]


def result_files(path: Path) -> list[Path]:
    """The files of these results; RefusedError where there is none."""
    if path.is_file():
        return [path]
    if (path / RESULT).is_file():
        return [path / RESULT]
    found = sorted((path / ATTEMPTS).glob(f"*/{RESULT}"), key=_attempt_key)
    if not found:
        raise refuse(
            "no_results",
            field="PATH",
            value=path,
            rule="there is no result.json at or below this path",
            remedy="name a folder that `stanchion run` wrote, or one of its attempts",
        )
    return found


def planned_attempts(attempt: Path) -> int | None:
    """How many its job planned for each task; None = it does not say."""
    try:
        return decode((attempt.parent.parent / JOB).read_bytes(), _Plan).attempts
    except (OSError, CodecError):
        return None


def _attempt_key(result: Path) -> tuple[str, int]:
    name, _, number = result.parent.name.rpartition("__")
    return name, int(number) if number.isdecimal() else 0


def _is_of(line: bytes, wanted: dict[tuple[str, int], AttemptResult]) -> bool:
    """Whether it is a whole line of one of these, which is then no longer wanted."""
    if not line.endswith(b"\n"):
        return False
    try:
        result = decode(line, AttemptResult)
    except CodecError:
        return False
    return wanted.pop((result.run, result.attempt), None) is not None


def write_json(path: Path, document: object) -> None:
    """The document, indented for people; whole or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def write_whole(path: Path, content: bytes) -> None:
    """The file, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(content)
    unfinished.replace(path)
