"""A small runsc launcher for the bundle's tests: one sandbox, no limits, no channel."""

import json
import os
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from stanchion.images.bundle import Bundle, ensure_bundle
from stanchion.images.host import default_cache_dir
from stanchion.images.rootfs import BaseImage, ensure_base
from stanchion.images.runsc import RunscInfo, find_runsc

NAMESPACES = ("pid", "mount", "uts", "ipc", "network")


@dataclass(frozen=True)
class Launcher:
    """Starts one program in one sandbox and waits for its end."""

    runsc: Path
    folder: Path
    bundle: Path

    def __call__(
        self,
        root: Path,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        bound: Mapping[str, Path] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        config = self.folder / "config"
        for path in (config, self.folder / "overlay", self.folder / "state"):
            path.mkdir(exist_ok=True)
        mounts = {"/opt/stanchion": self.bundle, **(bound or {})}
        env = environment or {"PATH": "/usr/bin:/bin"}
        (config / "config.json").write_text(
            json.dumps(
                {
                    "ociVersion": "1.0.0",
                    "process": {
                        "user": {"uid": 0, "gid": 0},
                        "args": list(arguments),
                        "env": [f"{name}={value}" for name, value in env.items()],
                        "cwd": "/",
                    },
                    "root": {"path": str(root)},
                    "hostname": "sandbox",
                    "mounts": [
                        {"destination": "/proc", "type": "proc", "source": "proc"},
                        *(
                            {
                                "destination": destination,
                                "type": "bind",
                                "source": str(source),
                                "options": ["rbind", "ro"],
                            }
                            for destination, source in mounts.items()
                        ),
                    ],
                    "linux": {"namespaces": [{"type": kind} for kind in NAMESPACES]},
                }
            )
        )
        command: list[str | Path] = [
            self.runsc, "--root", self.folder / "state", "--network=none", "--ignore-cgroups",
            f"--overlay2=root:dir={self.folder / 'overlay'}",
            "run", "--bundle", config, uuid.uuid4().hex,
        ]  # fmt: skip
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )


@pytest.fixture(scope="session")
def runsc() -> RunscInfo:
    info = find_runsc()
    if info is None or not info.is_supported or os.geteuid() != 0:
        pytest.skip(f"needs root and a supported runsc, found {info} (stanchion doctor --fix)")
    return info


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return ensure_bundle(default_cache_dir())


@pytest.fixture(scope="session")
def debian() -> BaseImage:
    return ensure_base(default_cache_dir())


@pytest.fixture
def launch(runsc: RunscInfo, bundle: Bundle, tmp_path: Path) -> Launcher:
    folder = tmp_path / "sandbox"
    folder.mkdir()
    return Launcher(runsc.path, folder, bundle.path)
