"""The rehearsal provider as a process of its own."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def rehearsing(
    script: Path, *, port: int = 0, key: str | None = None, log: Path | None = None
) -> Iterator[int]:
    """Play the script until the block ends; its port. With a key it takes no other."""
    command = [sys.executable, "-m", "stanchion.rehearsal", "--script", str(script)]
    command += ["--port", str(port), "--die-with-stdin"]
    command += [] if key is None else ["--key-stdin"]
    command += [] if log is None else ["--log", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if key is not None:
            process.stdin.write(f"{key}\n".encode())
            process.stdin.flush()
        try:
            yield int(json.loads(process.stdout.readline())["port"])
        finally:
            process.stdin.close()
            process.wait(20)


def script_in(folder: Path, text: str) -> Path:
    """A file that says this."""
    path = folder / "rehearsal.toml"
    path.write_text(text)
    return path
