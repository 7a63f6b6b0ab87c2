"""Task folders of a few lines, and `stanchion` in a folder and a state folder of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult

TIMEOUT_S = 150
QUIET = '[environment]\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = 120\n'
GIVES_ONE = "echo 1 > /logs/verifier/reward.txt\n"
ORACLE = ("--harness", "oracle", "--model", "rehearsal/none")
OPENCODE = ("--harness", "opencode", "--model", "rehearsal/scripted-1")


def small_task(
    folder: Path,
    *,
    tests: str,
    solve: str | None = "true",
    toml: str = QUIET,
    rehearsal: str | None = None,
) -> Path:
    """A task of this test script and solution."""
    (folder / "tests").mkdir(parents=True)
    (folder / "tests/test.sh").write_text(tests)
    (folder / "instruction.md").write_text("Do it.\n")
    (folder / "task.toml").write_text(toml)
    if solve is not None:
        (folder / "solution").mkdir()
        (folder / "solution/solve.sh").write_text(solve)
    if rehearsal is not None:
        (folder / "rehearsal.toml").write_text(rehearsal)
    return folder


@dataclass(frozen=True)
class Stanchion:
    """The command."""

    folder: Path
    state: Path

    def __call__(
        self, *arguments: str | Path, environment: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        """Exit code, standard output and standard error."""
        known = {name: text for name, text in os.environ.items() if name != "STANCHION_CONFIG"}
        done = subprocess.run(
            [sys.executable, "-m", "stanchion.runner", *arguments],
            cwd=self.folder,
            env={**known, "STANCHION_STATE": str(self.state), **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.decode()

    def run(
        self, task: Path, *options: str, environment: Mapping[str, str] | None = None
    ) -> AttemptResult:
        """The result of one attempt."""
        _, output, errors = self("run", task, *options, "--json", environment=environment)
        assert output.count(b"\n") == 1, errors
        return decode(output, AttemptResult)
