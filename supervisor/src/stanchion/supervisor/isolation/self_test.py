"""Checks, from inside the agent's namespaces, that nothing of the supervisor can be reached.

Runs in the shim before the agent exists. A check that cannot be made counts as failed. It reads,
connects and tries to write and unmount; it must leave nothing behind.
"""

# Importing pathlib would delay every start by 30 ms in gVisor.
# ruff: noqa: PTH108, PTH114, PTH123, PTH208

import _socket
import os

from stanchion.supervisor.isolation import capabilities, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CAPABILITY_LINES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def run(*, hidden: tuple[str, ...], pinned: list[str], sockets: tuple[str, ...]) -> dict[str, bool]:
    """Every check by name; all true = the isolation holds."""
    checks = {
        "own_pid_namespace": _own_pid_namespace,
        "capabilities_bounded": _capabilities_bounded,
        "no_environment": _no_environment,
        "dumpable_off": lambda: not syscalls.is_dumpable(),
        "supervisor_socket_unreachable": lambda: all(map(_refuses_connection, sockets)),
        "unmount_denied": lambda: _unmount_denied((*hidden, "/proc")),
        "paths_pinned": lambda: _pinned((*pinned, *hidden)),
    }
    for number, folder in enumerate(hidden):
        checks[f"hidden_{number}"] = _hidden_check(folder)
    return {name: _holds(check) for name, check in checks.items()}


def within_bounds(status: str) -> bool:
    """Whether a /proc/PID/status shows no capability beyond the agent's."""
    shown = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    masks = {name: int(shown[name], 16) for name in _CAPABILITY_LINES if name in shown}
    return {"CapPrm", "CapEff", "CapBnd"} <= set(masks) and not any(
        capabilities.outside(bits, capabilities.HARNESS) for bits in masks.values()
    )


def _holds(check: "Callable[[], bool]") -> bool:
    try:
        return check()
    except (OSError, ValueError):
        return False


def _own_pid_namespace() -> bool:
    visible = [name for name in os.listdir("/proc") if name.isdecimal()]
    return os.getpid() == 1 and visible == ["1"]


def _capabilities_bounded() -> bool:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return within_bounds(file.read())


def _no_environment() -> bool:
    with open("/proc/1/environ", "rb") as file:
        return file.read() == b""


def _hidden_check(folder: str) -> "Callable[[], bool]":
    return lambda: _is_hidden(folder)


def _is_hidden(folder: str) -> bool:
    return not os.listdir(folder) and _refuses_writing(f"{folder}/.stanchion-self-test")


def _refuses_writing(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
    except OSError:
        return True
    os.unlink(path)
    return False


def mount_points(mountinfo: str) -> set[str]:
    """The mount points in a /proc/PID/mountinfo (proc(5)); a blank there is octal 040."""
    lines = [line.split(" ") for line in mountinfo.splitlines()]
    return {line[4].replace("\\040", " ") for line in lines if len(line) > 4}


def _pinned(paths: tuple[str, ...]) -> bool:
    # Not by trying to move them: gVisor's overlay copies a folder's whole content before it says
    # that the folder is busy.
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounted = mount_points(file.read())
    return all(path in mounted and not os.path.islink(path) for path in paths)


def _refuses_connection(path: str) -> bool:
    attempt = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        attempt.connect(path)
    except OSError:
        return True
    finally:
        attempt.close()
    return False


def _unmount_denied(targets: tuple[str, ...]) -> bool:
    # With the power to unmount the answer is known, and trying would do it.
    return _capabilities_bounded() and all(map(_refuses_unmount, targets))


def _refuses_unmount(target: str) -> bool:
    try:
        syscalls.unmount(target)
    except PermissionError:
        return True
    return False
