"""A task's folders at their real places (/work, /tests, /logs) in a private mount namespace.

Stands in for the sandbox: the host's system folders and this interpreter, with its pytest as the
base's `python3 -m pytest`, around fresh task folders. Works as root, or where user namespaces do.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = Path(__file__).parents[3] / "examples" / "tasks"
TIMEOUT_S = 40
HOST_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
INSIDE_PATH = f"/opt/python/bin:{HOST_PATH}"
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
SYSTEM = ("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "usr")

ENTER = """
set -eu
root=$1 python=$2 base=$3
shift 3
bind() { mkdir -p "$root$2" && mount --rbind "$1" "$root$2"; }
for name in $SYSTEM; do
    if [ -d "/$name" ] && [ ! -L "/$name" ]; then bind "/$name" "/$name"; fi
done
bind "$python" /opt/python
[ "$base" = /usr ] || bind "$base" "$base"
exec chroot "$root" /bin/sh -c 'cd /work && exec "$@"' sh "$@"
"""


class Stage:
    """One attempt at a task, without any harness."""

    def __init__(self, folder: Path, task: Path) -> None:
        self.root = folder / "root"
        for name in ("work", "logs/verifier", "tmp"):
            (self.root / name).mkdir(parents=True)
        for link in (Path("/", name) for name in SYSTEM):
            if link.is_symlink():
                (self.root / link.name).symlink_to(link.readlink())
        for source, target in (
            ("tests", "tests"),
            ("solution", "solution"),
            ("environment/workdir", "work"),
        ):
            if (task / source).is_dir():
                shutil.copytree(task / source, self.root / target, dirs_exist_ok=True)

    def host_path(self, inside: str) -> Path:
        return self.root / inside.removeprefix("/")

    def run(self, *command: str, path: str = INSIDE_PATH) -> str:
        """The output of a command inside, whatever its exit code."""
        enter = [*UNSHARE, "sh", "-c", ENTER, "sh", str(self.root), sys.prefix, sys.base_prefix]
        done = subprocess.run(
            [*enter, *command],
            env={"PATH": path, "SYSTEM": " ".join(SYSTEM), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.stdout

    def verify(self, **options: str) -> str | None:
        """Run the task's tests; the reward they wrote, None if they wrote none."""
        self.output = self.run("/bin/sh", "/tests/test.sh", **options)
        reward = self.host_path("/logs/verifier/reward.txt")
        return reward.read_text().strip() if reward.exists() else None


def require_namespaces() -> None:
    """Skip, saying why, where the kernel refuses a mount namespace."""
    done = subprocess.run([*UNSHARE, "true"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no mount namespace here: {done.stderr.decode().strip()}")
