"""The real OpenCode and the rehearsal provider, as processes of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from stanchion.harness_adapters.opencode import BINARY
from stanchion.harness_adapters.opencode.config import VERSION


@pytest.fixture(scope="session")
def opencode_package() -> Path:
    """Its unpacked package: from $STANCHION_TEST_OPENCODE, else from the harness store."""
    given = os.environ.get("STANCHION_TEST_OPENCODE")
    if given is not None:
        assert (Path(given) / BINARY).is_file(), f"$STANCHION_TEST_OPENCODE has no {BINARY}"
        return Path(given)
    from stanchion.images.harness_store import ensure_harness, has_harness

    state = Path(os.environ.get("STANCHION_STATE") or Path.home() / ".local/state/stanchion")
    if os.environ.get("STANCHION_OFFLINE") and not has_harness(
        state / "cache", "opencode", VERSION
    ):
        pytest.skip(f"NOT TESTED: OpenCode {VERSION} is not here and this machine is offline")
    return ensure_harness(state / "cache", "opencode", VERSION).path


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
