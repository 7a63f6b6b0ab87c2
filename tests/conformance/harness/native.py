"""Starts a harness on this machine exactly as its adapter plans it, without a sandbox.

For recordings and functional tests; it decides nothing about what the harness is told.
"""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stanchion.harness_adapters.base import DocumentStore, LinesStore, Plan
from stanchion.images.harness_store import HarnessPackage
from stanchion.runner.sandbox.oci import harness_place
from stanchion.supervisor.sensors.document_tail import DocumentTail
from stanchion.supervisor.sensors.lines_tail import LinesTail

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
    package: HarnessPackage | None = None,
) -> NativeRun:
    """Write the planned files, start the program, wait for its end and read its store.

    With a `package`, it is planned for and started at the place that a sandbox shows it at.
    """
    write_files(plan)
    with subprocess.Popen(
        (*(in_place(package) if package else ()), *plan.argv),
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


def place(package: HarnessPackage) -> str:
    """Where a sandbox shows it, and where a runtime of its own looks for its libraries."""
    return harness_place(package.name, package.version)


def in_place(package: HarnessPackage) -> tuple[str, ...]:
    """What a command is to be preceded by to see it there (root); the host sees nothing of it."""
    mounts = 'mount -t tmpfs none /opt && mkdir -p "$2" && mount --bind "$1" "$2"'
    script = f'{mounts} && shift 2 && exec "$@"'
    return ("unshare", "--mount", "sh", "-c", script, "sh", str(package.path), place(package))


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
    if isinstance(plan.store, LinesStore):
        return _lines(plan.store)
    if isinstance(plan.store, DocumentStore):
        return [tuple(row) for row in DocumentTail(plan.store).look(writer_gone=True)]
    if plan.store is None or not os.path.exists(plan.store.path):  # noqa: PTH110 - a plain path from the plan
        return []
    connection = sqlite3.connect(f"file:{plan.store.path}?mode=ro", uri=True)
    try:
        return connection.execute(plan.store.query, (plan.store.first_cursor,)).fetchall()
    finally:
        connection.close()


def _lines(store: LinesStore) -> list[Row]:
    tail, rows = LinesTail(store), list[Row]()
    while found := tail.look(writer_gone=True):
        rows += [tuple(row) for row in found]
    return rows
