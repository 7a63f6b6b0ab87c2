"""The commands of an operator, in processes of their own."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "sk-CANARY-0123456789"
CONFIG = """
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "file:keys/lab"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stanchion.toml").write_text(CONFIG)
    return tmp_path


def stanchion(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stanchion.runner", *arguments],
        cwd=folder, input=text, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


def test_a_key_is_stored_checked_and_never_shown(folder: Path) -> None:
    missing = stanchion(folder, "broker", "check", "--json")
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["accounts"][0]["problem"]["id"] == "credential_missing"
    stored = stanchion(folder, "key", "set", "evals/lab", text=f"{KEY}\n")
    assert (stored.returncode, stored.stderr) == (0, "")
    assert stored.stdout.splitlines() == [
        "key of evals/lab stored in keys/lab, mode 0600",
        "next:  stanchion broker check --live",
    ]
    assert (folder / "keys" / "lab").read_text() == f"{KEY}\n"
    checked = stanchion(folder, "broker", "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "file:keys/lab, mode 0600" in checked.stdout
    assert "CANARY" not in stored.stdout + checked.stdout


def test_on_a_terminal_the_key_is_not_echoed(folder: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        command = ["-m", "stanchion.runner", "key", "set", "evals/lab"]
        os.execv(sys.executable, [sys.executable, *command])
    shown = b""
    while b"not shown" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, f"{KEY}\n".encode())
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:
        pass  # the terminal's other end is closed
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"stored in keys/lab" in shown
    assert b"CANARY" not in shown
    assert (folder / "keys" / "lab").read_text() == f"{KEY}\n"
