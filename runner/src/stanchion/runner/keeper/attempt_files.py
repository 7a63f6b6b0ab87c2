"""The files that a sandbox finds in its attempt directory, beside the broker's two sockets.

Only what the supervisor needs: the solution for the oracle alone, never the rehearsal, never a key.
"""

import os
import shutil
from pathlib import Path

from stanchion.harness_adapters.without_model import Oracle
from stanchion.protocol import codec
from stanchion.protocol.admin import RunOpenedReply
from stanchion.runner.keeper.order import Order

LAUNCH = "launch.json"
TOKEN = "enrol.token"  # noqa: S105 - a file's name


class LaunchAlteredError(Exception):
    """The frozen launch does not have the digest that the broker put on record."""


def lay_out(order: Order, opened: RunOpenedReply) -> None:
    """Everything but the token."""
    directory, task = Path(opened.directory), Path(order.task_folder)
    if codec.digest(opened.launch) != opened.launch_sha256:
        raise LaunchAlteredError(
            f"the launch that the broker returned does not have its digest {opened.launch_sha256}; "
            "broker and runner are of different versions: stanchion broker stop"
        )
    (directory / LAUNCH).write_bytes(codec.encode(opened.launch))
    (directory / "instruction.md").write_text(order.instruction, encoding="utf-8")
    _copy(task / "tests", directory / "tests")
    if opened.launch.spec.harness.name == Oracle.name:
        _copy(task / "solution", directory / "solution")
    workdir = task / "environment" / "workdir"
    if workdir.is_dir():
        _copy(workdir, directory / "workdir")


def _copy(source: Path, target: Path) -> None:
    """The folder as it is; a link that leads out of it is refused by name, never followed."""
    for path in source.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(source.resolve()):
            raise OSError(f"{path} is a link to {path.readlink()}, outside of {source}")
    shutil.copytree(source, target, symlinks=True)


def place_token(directory: Path, token: str) -> None:
    """The enrolment token, readable by its owner alone; valid for a minute."""
    descriptor = os.open(directory / TOKEN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token)


def remove(directory: Path) -> None:
    """Everything of the attempt directory; it may be gone already."""
    shutil.rmtree(directory, ignore_errors=True)
