"""A pid alone names nobody for long."""

import os
import subprocess
import sys
from pathlib import Path

from stanchion.runner.host.process_identity import identity_of, is_gone, own_identity


def a_proc(root: Path, *, boot: str = "b-1", state: str = "S", start: int = 77) -> Path:
    (root / "sys/kernel/random").mkdir(parents=True, exist_ok=True)
    (root / "sys/kernel/random/boot_id").write_text(f"{boot}\n")
    (root / "5").mkdir(exist_ok=True)
    between = " ".join("0" for _ in range(18))
    (root / "5/stat").write_text(f"5 (a ) b) {state} {between} {start} 0 0\n")
    return root


def test_this_process_is_itself() -> None:
    assert identity_of(os.getpid()) == own_identity()
    assert not is_gone(os.getpid(), own_identity())


def test_a_process_that_was_waited_for_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        identity = identity_of(process.pid)
        assert identity is not None
        assert not is_gone(process.pid, identity)
    assert is_gone(process.pid, identity)


def test_the_same_pid_started_at_another_time_is_another(tmp_path: Path) -> None:
    identity = identity_of(5, a_proc(tmp_path))
    assert identity == "b-1 77"
    assert not is_gone(5, identity, tmp_path)
    assert is_gone(5, identity, a_proc(tmp_path, start=78))


def test_the_same_pid_and_time_after_a_reboot_is_another(tmp_path: Path) -> None:
    identity = identity_of(5, a_proc(tmp_path))
    assert identity is not None
    assert is_gone(5, identity, a_proc(tmp_path, boot="b-2"))


def test_one_that_has_ended_and_was_not_waited_for_is_gone(tmp_path: Path) -> None:
    assert identity_of(5, a_proc(tmp_path, state="Z")) is None
