"""The few system calls that Python 3.11 has no function for.

Each raises OSError naming the call. Standard library only: this runs in the shim, in gVisor, where
every further import delays the start of the agent by 10 ms or more.
"""

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
SIGKILL, SIGCHLD, SIGSTOP, HIGHEST_SIGNAL = 9, 17, 19, 64

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_PR_CAPBSET_READ, _PR_CAPBSET_DROP = 23, 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522
_SIG_DFL, _SIG_IGN = 0, 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
_libc.signal.restype = ctypes.c_void_p


def _checked(call: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def unshare(flags: int, name: str) -> None:
    """Leave the namespaces that the flags name."""
    _checked(f"unshare {name}", _libc.unshare(flags))


def mount(kind: str, target: str, *, flags: int = 0, options: str = "") -> None:
    """Mount a new file system of this kind over the target."""
    result = _libc.mount(
        kind.encode(), os.fsencode(target), kind.encode(), flags, options.encode() or None
    )
    _checked(f"mount {kind} over {target}", result)


def make_mounts_private() -> None:
    """Keep later mounts from spreading to any other mount namespace."""
    result = _libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    _checked("make mounts private", result)


def bind_over_itself(folder: str) -> None:
    """Make a folder, with all that is mounted below, a mount of its own at its own place."""
    path = os.fsencode(folder)
    result = _libc.mount(path, path, None, MS_BIND | MS_REC, None)
    _checked(f"bind {folder} over itself", result)


def unmount(target: str) -> None:
    """Take away the top mount at the target."""
    _checked(f"umount {target}", _libc.umount2(os.fsencode(target), 0))


def set_undumpable() -> None:
    """Close this process's memory, and its tracing, to other processes."""
    _checked("prctl PR_SET_DUMPABLE", _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def is_dumpable() -> bool:
    """Whether others may read this process's memory."""
    return _checked("prctl PR_GET_DUMPABLE", _libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)) != 0


def set_no_new_privileges() -> None:
    """No execve of this process or its children may add privileges."""
    _checked("prctl PR_SET_NO_NEW_PRIVS", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def become_subreaper() -> None:
    """Adopt orphaned descendants. gVisor answers 0 and does nothing (PID 1 adopts anyway)."""
    _checked("prctl PR_SET_CHILD_SUBREAPER", _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def drop_bounding(number: int) -> None:
    """Make one capability unobtainable; one that this kernel does not know is gone already."""
    if _libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0) == 1:
        result = _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
        _checked(f"prctl PR_CAPBSET_DROP {number}", result)


def keep_capabilities(allowed: int) -> None:
    """Reduce permitted and effective to at most the allowed bits; inheritable becomes empty."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: low words, then high words
    _checked("capget", _libc.capget(header, data))
    for word, bits in enumerate((allowed & 0xFFFFFFFF, allowed >> 32)):
        permitted = data[word * 3 + 1] & bits
        data[word * 3 : word * 3 + 3] = [permitted, permitted, 0]
    _checked("capset", _libc.capset(header, data))


def ignore_signals() -> None:
    """Ignore every signal that can be ignored, except SIGCHLD: ignored, it loses wait statuses."""
    for number in range(1, HIGHEST_SIGNAL + 1):
        if number not in {SIGKILL, SIGCHLD, SIGSTOP}:
            _libc.signal(number, _SIG_IGN)


def restore_signals() -> None:
    """Give a program about to be executed the default of every signal."""
    for number in range(1, HIGHEST_SIGNAL + 1):
        _libc.signal(number, _SIG_DFL)
