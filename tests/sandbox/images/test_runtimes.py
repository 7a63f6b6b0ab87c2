"""The runtimes that harnesses bring along, in gVisor: in Debian and where there is nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from conftest import required
from stanchion.images.harness_store import HarnessPackage, Runtime, ensure_harness, lock
from stanchion.images.host import architecture
from stanchion.images.rootfs import BaseImage

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.network,
    pytest.mark.other_harness,
    pytest.mark.timeout(400),
]

Launch = Callable[..., CompletedProcess[str]]

LOOK = {
    Runtime.NODE: ("bin/node", "-e", """
const maps = require("fs").readFileSync("/proc/self/maps", "utf8").split("\\n");
const files = maps.filter(l => l.includes("/")).map(l => l.slice(l.indexOf("/")));
require("dns").lookup("127.0.0.1", (error, address) => console.log(JSON.stringify({
  outside: [...new Set(files)].filter(f => !f.startsWith("/opt/stanchion-harness/")),
  inside: files.length, home: process.execPath, address,
  again: require("child_process").execFileSync(process.execPath, ["-p", "6*7"]).toString().trim(),
})));
"""),
    Runtime.PYTHON: ("bin/python3.11", "-I", "-c", """
import json, re, socket, sqlite3, ssl, subprocess, sys
files = [line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if "/" in line]
print(json.dumps({
  "outside": [name for name in set(files) if not name.startswith("/opt/stanchion-harness/")],
  "inside": len(files), "home": sys.executable, "address": socket.gethostbyname("127.0.0.1"),
  "again": subprocess.run([sys.executable, "-I", "-c", "print(6*7)"], capture_output=True,
                          check=True, text=True).stdout.strip(),
}))
"""),
}  # fmt: skip
SMALLEST = {
    runtime: min(
        (release.size_bytes, name, version)
        for name, versions in lock().items()
        for version, releases in versions.items()
        for processor, release in releases.items()
        if release.runtime is runtime and processor == architecture().npm
    )
    for runtime in Runtime
    if any(
        release.runtime is runtime
        for versions in lock().values()
        for releases in versions.values()
        for release in releases.values()
    )
}
"""One release of each kind shows what all of that kind are made of."""


@pytest.fixture(params=SMALLEST)
def package(request: pytest.FixtureRequest, cache_dir: Path) -> HarnessPackage:
    _, name, version = SMALLEST[request.param]
    return required(name, lambda: ensure_harness(cache_dir, name, version))


@pytest.fixture(params=["debian", "nothing"])
def root(request: pytest.FixtureRequest, debian: BaseImage, tmp_path: Path) -> Path:
    if request.param == "debian":
        return debian.path
    (tmp_path / "nothing").mkdir()
    return tmp_path / "nothing"


def test_a_runtime_uses_no_file_of_the_image_and_can_start_itself(
    launch: Launch, package: HarnessPackage, root: Path
) -> None:
    place = f"/opt/stanchion-harness/{package.name}/{package.version}"
    assert package.runtime is not None
    program, *arguments = LOOK[package.runtime]

    done = launch(
        root, [f"{place}/runtime/{program}", *arguments], bound={place: package.path},
        environment={"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu", "HOME": "/"},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen.pop("inside") >= 5
    assert seen == {
        "outside": [], "home": f"{place}/runtime/{program}", "address": "127.0.0.1", "again": "42",
    }  # fmt: skip
