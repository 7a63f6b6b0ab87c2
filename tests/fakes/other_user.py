"""`stanchion` as an unprivileged user of this machine, started by tests that run as root."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from stanchion.images.bundle import ensure_bundle
from stanchion.runner.tasks.examples import example_task

NOBODY = 65534
PYTHONS = (sys.executable, "/usr/bin/python3.11", "/usr/bin/python3")
VERSION = "import sys, msgspec; assert sys.version_info[:2] == {}"


@dataclass(frozen=True)
class OtherUser:
    """A user with a home of its own."""

    home: Path
    python: str
    uid: int = NOBODY

    def stanchion(self, *words: str | Path) -> subprocess.CompletedProcess[bytes]:
        return self._run([self.python, "-m", "stanchion.runner", *words])

    def _run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            user=self.uid,
            group=self.uid,
            extra_groups=[],
            cwd=self.home,
            env=environment(self.home),
            capture_output=True,
            timeout=150,
            check=False,
        )


def environment(home: Path) -> dict[str, str]:
    """Nothing of the caller's but where the code is."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "PYTHONPATH": ":".join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@contextmanager
def other_user(cache_dir: Path) -> Iterator[OtherUser | None]:
    """With a state folder whose pieces are this machine's; None where it cannot run our Python."""
    ensure_bundle(cache_dir)  # it may not write there itself
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        home = Path(folder)
        state = home / ".local" / "state" / "stanchion"
        state.mkdir(parents=True)
        (state / "cache").symlink_to(cache_dir)
        for path in (home, *home.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        python = next((python for python in PYTHONS if _runs(python, home)), None)
        try:
            yield None if python is None else OtherUser(home, python)
        finally:
            end_broker(state)


def _runs(python: str, home: Path) -> bool:
    check = VERSION.format(tuple(sys.version_info[:2]))
    try:
        done = subprocess.run(
            [python, "-c", check],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env=environment(home),
            capture_output=True,
            timeout=30,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def end_broker(state: Path) -> None:
    """The broker of a state folder, if one was started."""
    with suppress(OSError, ValueError, psutil.NoSuchProcess):
        process = psutil.Process(int((state / "broker" / "broker.pid").read_text()))
        process.terminate()
        process.wait(30)


def hello_task(folder: Path, test: str) -> Path:
    """The hello task with tests for a plain shell: hosts need not have pytest."""
    task = folder / "hello"
    example = example_task("hello")
    (task / "tests").mkdir(parents=True)
    (task / "solution").mkdir()
    for name in ("task.toml", "instruction.md", "rehearsal.toml", "solution/solve.sh"):
        (task / name).write_bytes((example / name).read_bytes())
    (task / "tests" / "test.sh").write_text(f"mkdir -p /logs/verifier\n{test}\n")
    for path in (folder, task, *task.rglob("*")):
        path.chmod(0o755)
    return task
