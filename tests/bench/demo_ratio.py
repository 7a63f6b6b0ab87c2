"""The demo beside two bare runs: what custody costs, as a ratio measured in one go.

A bare run is OpenCode alone in runsc with the same script, told by the same adapter: no supervisor,
no broker, no receipts, no tests. Both scripts of the demo are run bare, then the whole demo is run
once warm and measured on its second run. Prints the load, writes one JSON result.
"""

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from stanchion.harness_adapters.base import Plan, Settings
from stanchion.harness_adapters.registry import adapter
from stanchion.images.harness_store import ensure_harness
from stanchion.images.host import default_cache_dir
from stanchion.images.rootfs import ensure_base
from stanchion.images.runsc import find_runsc
from stanchion.protocol.dialects import Dialect
from stanchion.runner.demo import demo_run as demo
from stanchion.runner.launching.rehearsals import rehearsing
from stanchion.runner.tasks.examples import example_task

BAR = 2.5
RESULTS = Path(__file__).parent / "results"
PACKAGE = "/opt/stanchion-harness"  # these two mount points exist in the base image
SEED_DIR = "/run/stanchion"
SEED = f'cp -a {SEED_DIR}/home/. /root && cp -a {SEED_DIR}/work /work && cd /work && exec "$@"'
MEMORY_BYTES = 2048 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """What a bare run is made of."""

    runsc: Path
    rootfs: Path
    package: Path


def pieces() -> Piece:
    """From the same cache as the demo."""
    cache = default_cache_dir()
    found = find_runsc()
    if found is None:
        sys.exit("runsc is not installed; stanchion doctor --fix installs it")
    package = ensure_harness(cache, "opencode", "1.18.33")
    return Piece(found.path, ensure_base(cache).path, package.path)


def plan_for(task: Path, port: int) -> Plan:
    """The adapter's own plan, with the provider's address in place of the relay's."""
    return adapter("opencode").plan(
        Settings(
            model=demo.MODEL,
            base_url=f"http://127.0.0.1:{port}",
            dialect=Dialect.OPENAI_CHAT,
            output_limit=128_000,
            context=None,
            effort=demo.EFFORT,
            instruction=(task / "instruction.md").read_text(),
            home="/root",
            workdir="/work",
            package_dir=PACKAGE,
            env={},
        )
    )


def write_files(plan: Plan, home: Path) -> None:
    """The plan's files, below the folder that is bound as /root."""
    for file in plan.files:
        place = home / Path(file.path).relative_to("/root")
        if file.text is None:
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.text)


def config(piece: Piece, plan: Plan, seed: Path) -> dict[str, object]:
    """A plain OCI configuration; the host's network, since nothing relays.

    The agent's folders are copied into the overlay first: bound from the host they would be slower
    than what the demo uses, and the comparison would flatter it.
    """

    def bind(source: Path, destination: str) -> dict[str, object]:
        options = ["rbind", "ro"]
        return {
            "destination": destination,
            "type": "bind",
            "source": str(source),
            "options": options,
        }

    return {
        "ociVersion": "1.0.0",
        "root": {"path": str(piece.rootfs), "readonly": False},
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "cwd": "/",
            "env": [f"{name}={value}" for name, value in plan.env.items()],
            "args": ["/bin/sh", "-c", SEED, "sh", *plan.argv],
            "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 65536}],
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            bind(piece.package, PACKAGE),
            bind(seed, SEED_DIR),
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "mount", "uts", "ipc")],
            "resources": {"memory": {"limit": MEMORY_BYTES}},
        },
    }


async def bare(piece: Piece, task: Path, script: Path) -> tuple[float, int]:
    """Seconds of one bare run, and its exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seed, box, overlay = (folder / part for part in ("seed", "box", "overlay"))
        for place in (seed / "home", box, overlay):
            place.mkdir(parents=True)
        shutil.copytree(task / "environment" / "workdir", seed / "work")
        key = secrets.token_hex(16)
        started = time.monotonic()
        async with rehearsing(script, key=key, log=folder / "witness") as port:
            plan = plan_for(task, port)
            # A bare harness holds the real key itself.
            env = {k: v.replace("placeholder", key) for k, v in plan.env.items()}
            plan = Plan(plan.argv, env, plan.files, plan.stdin, plan.store)
            write_files(plan, seed / "home")
            (box / "config.json").write_text(json.dumps(config(piece, plan, seed)))
            process = await asyncio.create_subprocess_exec(
                str(piece.runsc),
                f"--root={folder / 'state'}",
                "--network=host",
                f"--overlay2=root:dir={overlay}",
                *("run", "--bundle", str(box), secrets.token_hex(16)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await asyncio.wait_for(process.communicate(plan.stdin), 300)
        return time.monotonic() - started, process.returncode or 0


def whole_demo(folder: Path) -> float:
    """Seconds of one `stanchion demo`; ends this program if the demo itself does not hold."""
    started = time.monotonic()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("stanchion")), "demo"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"the demo failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return time.monotonic() - started


async def main() -> int:
    """Measure, print, keep."""
    piece, task = pieces(), example_task(demo.TASK)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        first_s = whole_demo(Path(name))
        good_s, good_code = await bare(piece, task, task / "rehearsal.toml")
        killed_s, killed_code = await bare(piece, task, demo.KILLED_SCRIPT)
        second_s = whole_demo(Path(name))
    result = {
        "what": "stanchion demo, second run, over two bare OpenCode-in-runsc runs",
        "ratio": round(second_s / (good_s + killed_s), 2),
        "bar": BAR,
        "demo_first_s": round(first_s, 1),
        "demo_second_s": round(second_s, 1),
        "bare_good_s": round(good_s, 1),
        "bare_killed_s": round(killed_s, 1),
        "bare_exit_codes": [good_code, killed_code],
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "cores": os.cpu_count(),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "demo_ratio.json").write_text(json.dumps(result, indent=1) + "\n")
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
    return 0 if result["ratio"] <= BAR else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
