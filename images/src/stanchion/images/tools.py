"""Starting other people's programs: apt, pip, npm, patchelf, mmdebstrap.

A missing program is named together with the command that installs it. A failing one is reported
with its own last words. Nothing here goes through a shell.
"""

import os
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from stanchion.images.errors import MissingToolError, ToolFailedError

PACKAGE_OF = {
    "apt-config": "apt",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "mmdebstrap": "mmdebstrap",
    "npm": "npm",
    "patchelf": "patchelf",
}
LAST_WORDS = 4


def install_command(packages: Sequence[str]) -> str:
    """The one command a person can paste."""
    prefix = "" if os.geteuid() == 0 else "sudo "
    return f"{prefix}apt-get install -y --no-install-recommends {' '.join(packages)}"


def require(tool: str) -> str:
    """Absolute path of a program, or a refusal that names its Debian package."""
    found = shutil.which(tool)
    if found is None:
        fix = install_command([PACKAGE_OF.get(tool, tool)])
        raise MissingToolError(f"`{tool}` is not installed; run `{fix}`", fix=fix)
    return found


def run(
    arguments: Sequence[str | Path],
    *,
    doing: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 900,
) -> str:
    """Run a program to its end and return its standard output."""
    command = [str(argument) for argument in arguments]
    command[0] = require(command[0])
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise ToolFailedError(f"{doing} did not end within {timeout_s:.0f} s") from late
    if done.returncode != 0:
        words = _last_words(done.stderr) or _last_words(done.stdout) or "it said nothing"
        raise ToolFailedError(
            f"{doing} failed (`{Path(command[0]).name}` ended with {done.returncode}): {words}"
        )
    return done.stdout


def follow(
    arguments: Sequence[str | Path],
    *,
    doing: str,
    each_line: Callable[[str], None],
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 1800,
) -> None:
    """Run a program that takes long, passing on each line it prints as it prints it."""
    command = [str(argument) for argument in arguments]
    command[0] = require(command[0])
    lines: deque[str] = deque(maxlen=LAST_WORDS)
    with subprocess.Popen(
        command,
        env={**os.environ, "LC_ALL": "C", **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as running:
        deadline = threading.Timer(timeout_s, running.kill)
        deadline.start()
        try:
            assert running.stdout is not None
            for line in running.stdout:
                lines.append(line)
                each_line(line.rstrip())
            code = running.wait()
        finally:
            deadline.cancel()
            running.kill()
    if code != 0:
        words = _last_words("".join(lines)) or "it said nothing"
        raise ToolFailedError(
            f"{doing} failed (`{Path(command[0]).name}` ended with {code}): {words}"
        )


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-LAST_WORDS:])
