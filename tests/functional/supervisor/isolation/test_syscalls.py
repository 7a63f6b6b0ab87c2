"""The system calls, each in a process of its own, which it changes for good."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stanchion.supervisor.isolation import capabilities, enter, syscalls

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root holds capabilities to drop")


def in_a_child(check: Callable[[], bool]) -> bool:
    """Whether it holds in a fork of this process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return status == 0


def test_a_process_can_close_its_memory() -> None:
    def check() -> bool:
        before = syscalls.is_dumpable()
        syscalls.set_undumpable()
        return before and not syscalls.is_dumpable()

    assert in_a_child(check)


@root_only
def test_dropped_powers_are_gone_from_every_set() -> None:
    def check() -> bool:
        enter.drop_powers()
        lines = Path("/proc/self/status").read_text().splitlines()
        shown = dict(line.split(":\t") for line in lines if line.startswith(("Cap", "NoNew")))
        allowed = capabilities.mask(capabilities.HARNESS)
        masks = [int(shown[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")]
        return shown["NoNewPrivs"] == "1" and not any(mask & ~allowed for mask in masks)

    assert in_a_child(check)


@root_only
def test_without_the_power_a_call_is_refused_by_name() -> None:
    def check() -> bool:
        enter.drop_powers()
        try:
            syscalls.unshare(syscalls.CLONE_NEWNS, "mount namespace")
        except PermissionError as refused:
            return "unshare mount namespace: Operation not permitted" in str(refused)
        return False

    assert in_a_child(check)


def test_ignored_signals_are_ignored_and_restored_ones_kill() -> None:
    def ignoring() -> bool:
        syscalls.ignore_signals()
        os.kill(os.getpid(), 15)
        return True

    def restored() -> bool:
        syscalls.ignore_signals()
        syscalls.restore_signals()
        os.kill(os.getpid(), 15)
        return True

    assert in_a_child(ignoring)
    assert not in_a_child(restored)


def test_a_failed_mount_names_itself() -> None:
    with pytest.raises(OSError, match="mount tmpfs over /no/such/folder"):
        syscalls.mount("tmpfs", "/no/such/folder")
    with pytest.raises(OSError, match="bind /no/such/folder over itself"):
        syscalls.bind_over_itself("/no/such/folder")
    with pytest.raises(OSError, match="umount /no/such/folder"):
        syscalls.unmount("/no/such/folder")
