"""The program that takes an attempt without gVisor into namespaces of its own, then becomes it.

Reads its order as JSON from standard input, unshares, builds the root and executes the order's
command as process 1 of a PID namespace; stays outside as its parent and passes TERM on and its end
back. Without an order (`probe`) it only tries and says what works. Standard library alone, started
with -I -S: it must not be slow, and it must not import what it then hides.
"""

# Importing pathlib would be a third of its start time.
# ruff: noqa: PTH101, PTH102, PTH112, PTH123, PTH211

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FAILED = 128
"""As runsc exits where it cannot start a sandbox."""

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x1000, 0x4000, 0x40000, 2
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
PR_SET_PDEATHSIG, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 23, 24, 38
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MOUNT_SETATTR = 442
"""One number on every architecture; Linux 5.12 and newer, mount_setattr(2)."""
AT_FDCWD, AT_RECURSIVE, ATTR_RDONLY = -100, 0x8000, 1

_libc = ctypes.CDLL(None, use_errno=True)


def checked(what: str, result: int) -> None:
    """OSError naming the step where a system call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int, what: str) -> None:
    checked(f"own {what}", _libc.unshare(flags))


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    result = _libc.mount(*encoded, ctypes.c_ulong(flags), options.encode() or None)
    checked(f"mount {source or kind} at {target}", result)


def own_user_namespace() -> None:
    """Root inside, the caller outside; nothing else is mapped (user_namespaces(7))."""
    uid, gid = os.geteuid(), os.getegid()
    unshare(NEWUSER, "user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def raise_loopback() -> None:
    """A fresh network namespace has its loopback down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack_from("16sH", fcntl.ioctl(any_socket, SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | IFF_UP, b""))


def make_read_only(path: str) -> None:
    """This mount and all below it."""
    wanted = struct.pack("QQQQ", ATTR_RDONLY, 0, 0, 0)
    result = _libc.syscall(
        MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), AT_RECURSIVE, wanted, len(wanted)
    )
    checked(f"make {path} read-only", result)


def take(step: "dict[str, Any]", root: str) -> None:
    """One step of the new root."""
    path, what = root + step["path"], step["what"]
    match step["kind"]:
        case "folder":
            if not os.path.isdir(path):
                os.mkdir(path)
                os.chmod(path, step["mode"])
        case "file":
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        case "link":
            os.symlink(what, path)
        case "bind":
            mount(what, path, None, MS_BIND | MS_REC)
            if step["read_only"]:
                make_read_only(path)
        case "mount":
            mount(what, path, what, MS_NOSUID, step["options"])
        case "cover":
            if os.path.isdir(path):
                flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
                mount("tmpfs", path, "tmpfs", flags, "size=4k,mode=0555")
        case unknown:
            raise ValueError(f"no step is called {unknown!r}")


def build_root(order: "dict[str, Any]") -> None:
    """Build it and make it the only one; the host's is not reachable afterwards."""
    root = order["root"]
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND | MS_REC)
    for step in order["steps"]:
        try:
            take(step, root)
        except OSError:
            if not step["optional"]:
                raise
    os.chdir(root)
    checked("change the root", _libc.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."))
    checked("leave the old root", _libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def bound_powers(order: "dict[str, Any]") -> None:
    """Without the power to mount, what is read-only or covered stays so."""
    for number in range(64):
        has = _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1
        if has and number not in order["capabilities"]:
            checked("drop a capability", _libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
    checked("set no_new_privs", _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def die_with_parent() -> None:
    checked("prctl", _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def become(order: "dict[str, Any]", parent_lives: int) -> None:
    """In the child, process 1 of the PID namespace: never returns."""
    try:
        die_with_parent()
        if not os.read(parent_lives, 1):
            os._exit(FAILED)
        os.setsid()
        build_root(order)
        socket.sethostname(order["hostname"])
        resource.setrlimit(resource.RLIMIT_NOFILE, _open_files(order["open_files"]))
        os.umask(0o022)
        bound_powers(order)
        os.execve(order["command"][0], order["command"], order["environment"])  # noqa: S606
    except (OSError, ValueError) as failed:
        say(failed)
    finally:
        os._exit(FAILED)


def _open_files(wanted: int) -> tuple[int, int]:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    return limit, limit


def say(failed: Exception) -> None:
    words = failed.strerror if isinstance(failed, OSError) else None
    os.write(2, f"the attempt cannot be put up: {words or failed}\n".encode())


def enter(order: "dict[str, Any]") -> int:
    """All namespaces, then the child; its exit code, or 128 and its signal."""
    parent = os.getppid()
    for group in order["join"]:
        with open(group, "w", encoding="ascii") as file:
            file.write("0")
    own_user_namespace()
    unshare(NEWNS | NEWPID | NEWIPC | NEWUTS, "mount, PID, IPC and host name namespaces")
    if order["own_network"]:
        unshare(NEWNET, "network namespace")
        raise_loopback()
    die_with_parent()  # only now: a change of credentials resets it
    if os.getppid() != parent:
        return FAILED
    ours, lives = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(lives)
        become(order, ours)
    os.close(ours)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    os.write(lives, b"\n")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def probe() -> "dict[str, str | None]":
    """Each power and why it is missing; None = it works. Tried in a child that leaves nothing."""
    words: dict[str, str | None] = {}
    words["namespaces"] = _tried(_try_namespaces)
    words["network"] = words["namespaces"] or _tried(_try_network)
    return words


def _try_namespaces() -> None:
    own_user_namespace()
    unshare(NEWNS | NEWPID | NEWIPC | NEWUTS, "mount, PID, IPC and host name namespaces")
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    child = os.fork()
    if child == 0:
        try:
            mount("proc", "/proc", "proc", MS_NOSUID)
            mount("/usr", "/usr", None, MS_BIND | MS_REC)
            make_read_only("/usr")
        except OSError as failed:
            os.write(2, (failed.strerror or "").encode())
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        os._exit(1)


def _try_network() -> None:
    own_user_namespace()
    unshare(NEWNET, "network namespace")
    raise_loopback()


def _tried(trial: "Any") -> str | None:
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(said, 2)
        try:
            trial()
        except OSError as failed:
            os.write(2, (failed.strerror or str(failed)).encode())
            os._exit(1)
        os._exit(0)
    os.close(said)
    with os.fdopen(heard, "rb") as file:
        words = file.read().decode("utf-8", "replace").strip()
    status = os.waitpid(child, 0)[1]
    return None if status == 0 else words or "it failed without a reason"


def main() -> int:
    if sys.argv[1:] == ["probe"]:
        sys.stdout.write(json.dumps(probe()))
        return 0
    order = json.load(sys.stdin)
    try:
        return enter(order)
    except OSError as failed:
        say(failed)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
