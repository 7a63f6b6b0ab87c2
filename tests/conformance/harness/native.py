"""Starts a harness on this machine exactly as its adapter plans it, without a sandbox.

For recordings and functional tests; it decides nothing about what the harness is told.
"""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stanchion.harness_adapters.base import Plan

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NativeRun:
    """What a run left behind."""

    returncode: int
    stdout: bytes
    stderr: bytes
    rows: list[Row]


def run(
    plan: Plan,
    workdir: Path,
    *,
    timeout_s: float,
    meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> NativeRun:
    """Write the planned files, start the program, wait for its end and read its store."""
    write_files(plan)
    with subprocess.Popen(
        plan.argv,
        cwd=workdir,
        env=dict(plan.env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            if meanwhile is not None:
                assert process.stdin is not None
                process.stdin.write(plan.stdin)
                process.stdin.close()
                process.stdin = None
                meanwhile(process)
                stdout, stderr = process.communicate(timeout=timeout_s)
            else:
                stdout, stderr = process.communicate(plan.stdin, timeout=timeout_s)
        finally:
            process.kill()
    return NativeRun(process.returncode, stdout, stderr, stored(plan))


def write_files(plan: Plan) -> None:
    """As the supervisor does."""
    for file in plan.files:
        path = Path(file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.text is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_text(file.text)
        path.chmod(file.mode)


def stored(plan: Plan) -> list[Row]:
    """All rows of the harness's store, read after its end."""
    if plan.store is None or not os.path.exists(plan.store.path):  # noqa: PTH110 - a plain path from the plan
        return []
    connection = sqlite3.connect(f"file:{plan.store.path}?mode=ro", uri=True)
    try:
        return connection.execute(plan.store.query, (plan.store.first_cursor,)).fetchall()
    finally:
        connection.close()
