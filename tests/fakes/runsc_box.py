"""One real sandbox with the real supervisor bundle and a program of the tests as its process 1.

The program runs trials of the isolation package and prints one JSON line for each. Two listeners on
the host stand in for the broker's sockets and count who reached them.
"""

import json
import os
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stanchion.runner.sandbox.oci import Bind, Box, config_json

PROGRAM = Path(__file__).with_name("isolation_pid1.py")
CANARY = "CANARY-b0d1e7"
SOCKETS = ("model.sock", "control.sock")


@dataclass(frozen=True)
class Trial:
    """One job to start, what to do to it, and nothing about what should come of it."""

    name: str
    script: str
    """For the image's /bin/bash, or with `python` for the image's python3."""
    python: bool = False
    argv: tuple[str, ...] | None = None
    uid: int = 0
    stdin_bytes: int = 0
    env_bytes: int = 0
    hidden: tuple[str, ...] = ("/run/stanchion", "/run/stanchion-spool")
    do: tuple[str, ...] = ()
    """Steps after the release: `line TEXT` (wait for it on stdout), terminate, kill, stop_shim."""
    abandon: bool = False


@dataclass(frozen=True)
class BoxRun:
    """What came out of one sandbox."""

    exit_code: int
    stderr: str
    trials: dict[str, dict[str, Any]]
    last: dict[str, Any]
    connections: dict[str, int] = field(default_factory=dict)


def run_box(
    *, runsc: Path, bundle: Path, rootfs: Path, folder: Path, trials: Sequence[Trial]
) -> BoxRun:
    """Run every trial, in order, in one sandbox."""
    files = {
        "enrol.token": CANARY.encode(),
        "trials.json": json.dumps([asdict(t) for t in trials]).encode(),
    }
    command = lay_out_box(PROGRAM, files, runsc=runsc, bundle=bundle, rootfs=rootfs, folder=folder)
    with _listeners(folder / "run") as connections:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
            start_new_session=True,
        )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    by_name = {line["name"]: line for line in lines if "name" in line}
    last = next((line for line in lines if "name" not in line), {})
    return BoxRun(done.returncode, done.stderr + done.stdout[-2000:], by_name, last, connections)


def lay_out_box(
    program: Path,
    files: Mapping[str, bytes],
    *,
    runsc: Path,
    bundle: Path,
    rootfs: Path,
    folder: Path,
) -> list[str | Path]:
    """The command that runs the program as process 1, with these files in /run/stanchion."""
    parts = {name: folder / name for name in ("box", "overlay", "state", "run")}
    for part in parts.values():
        part.mkdir(mode=0o700)
    # Only mount points that the base has: runsc would make others in the shared image on the host.
    for name, content in {program.name: program.read_bytes(), **files}.items():
        (parts["run"] / name).parent.mkdir(parents=True, exist_ok=True)
        (parts["run"] / name).write_bytes(content)
    (parts["box"] / "config.json").write_text(_config(program, bundle, rootfs, parts))
    return [
        runsc, "--root", parts["state"], "--network=none", "--host-uds=open", "--ignore-cgroups",
        f"--overlay2=root:dir={parts['overlay']}", "run", "--bundle", parts["box"],
        uuid.uuid4().hex,
    ]  # fmt: skip


def _config(program: Path, bundle: Path, rootfs: Path, parts: Mapping[str, Path]) -> str:
    box = Box(
        rootfs=str(rootfs),
        binds=(
            Bind(str(bundle), "/opt/stanchion"),
            Bind(str(parts["run"]), "/run/stanchion"),
        ),
        arguments=("/opt/stanchion/bin/python3.11", "-I", "-S", f"/run/stanchion/{program.name}"),
        memory_mb=1024,
        cgroups_path=None,
    )
    config = json.loads(config_json(box))
    # Nothing secret is ever there; here a canary shows whether an agent could read it.
    config["process"]["env"].append(f"SUPERVISOR_CANARY={CANARY}")
    return json.dumps(config)


@contextmanager
def _listeners(folder: Path) -> Iterator[dict[str, int]]:
    connections = dict.fromkeys(SOCKETS, 0)
    # A socket's address is short; the folder of a test is not.
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    listeners = []
    threads = []
    for name in SOCKETS:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"/proc/self/fd/{directory}/{name}")
        listener.listen()
        listeners.append(listener)
        thread = threading.Thread(target=_count, args=(listener, name, connections))
        thread.start()
        threads.append(thread)
    try:
        yield connections
    finally:
        for listener in listeners:
            listener.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(timeout=10)
        for listener in listeners:
            listener.close()
        os.close(directory)


def _count(listener: socket.socket, name: str, connections: dict[str, int]) -> None:
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        connections[name] += 1
        peer.close()
