"""`start.json` in an attempt's result folder: written before its keeper gets the order.

A folder without it was never begun, one with it names the process that answers for it. So whoever
finds the folder later, after any crash, knows whether the attempt may run, runs, or was lost.
"""

import time
from pathlib import Path

import msgspec

from stanchion.protocol.codec import CodecError, decode
from stanchion.runner.host.process_identity import identity_of, is_gone
from stanchion.runner.results.job_folder import write_json

START = "start.json"


class StartFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    version: int = 1
    task: str
    attempt: int
    run: str
    retry_of: int | None
    """Number of the attempt that this one repeats; null = a planned one."""
    sandbox_id: str
    pid: int
    """Of the keeper."""
    identity: str | None
    """Tells the keeper from a later process of the same pid; null = it was gone at once."""
    started_at_ms: int

    @classmethod
    def of(
        cls, pid: int, *, task: str, run: str, attempt: int, retry_of: int | None, sandbox_id: str
    ) -> "StartFile":
        """The keeper of this pid answers from now on."""
        return cls(
            task=task,
            run=run,
            attempt=attempt,
            retry_of=retry_of,
            sandbox_id=sandbox_id,
            pid=pid,
            identity=identity_of(pid),
            started_at_ms=time.time_ns() // 1_000_000,
        )

    @property
    def keeper_lives(self) -> bool:
        """Whether the keeper may still work on it."""
        return self.identity is not None and not is_gone(self.pid, self.identity)


def write_start(folder: Path, start: StartFile) -> None:
    """Say who answers for the attempt."""
    write_json(folder / START, start)


def read_start(folder: Path) -> StartFile | None:
    """Who answers for the attempt; None = nobody ever did."""
    try:
        return decode((folder / START).read_bytes(), StartFile)
    except (OSError, CodecError):
        return None
