"""The rehearsal provider as a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A running rehearsal provider and its own record of what it was asked."""

    base_url: str
    log: Path

    def sightings(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def rehearsing(script: str, folder: Path) -> Iterator[Rehearsal]:
    """Play this script until the block ends."""
    source, log = folder / "rehearsal.toml", folder / "witness.jsonl"
    source.write_text(script)
    command = [sys.executable, "-m", "stanchion.rehearsal", "--script", str(source)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--die-with-stdin", "--log", str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        try:
            yield Rehearsal(base_url=f"http://127.0.0.1:{port}", log=log)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=20)
