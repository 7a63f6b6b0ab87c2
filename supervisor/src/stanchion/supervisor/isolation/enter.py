"""Takes the calling process's child into namespaces of its own, without the supervisor's powers.

Runs in the shim's program, before anything of the agent. The supervisor never does this to itself:
after unshare(NEWPID) it could start no thread, and fork nothing once the first namespace ended.
"""

import os

from stanchion.supervisor.isolation import capabilities, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_HIDING = syscalls.MS_RDONLY | syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC


def become_namespace_init(born: "Callable[[int], None]") -> None:
    """Return in a new process 1; the calling process reports its child's number and is gone.

    The number is the child's in the caller's namespace, which is the supervisor's.
    """
    syscalls.unshare(syscalls.CLONE_NEWPID, "pid namespace")
    reported, helpers_end = os.pipe()
    child = os.fork()
    if child:
        born(child)
        os._exit(0)
    os.close(helpers_end)
    os.read(reported, 1)  # ends with the helper: its report goes before any of this process
    os.close(reported)
    syscalls.set_undumpable()
    os.setsid()


def own_mounts() -> None:
    """Leave the supervisor's mount namespace; nothing mounted from here on is seen there."""
    syscalls.unshare(syscalls.CLONE_NEWNS, "mount namespace")
    syscalls.make_mounts_private()


def steps_to(folders: tuple[str, ...], parents_of: tuple[str, ...]) -> list[str]:
    """Each folder on the way to the given ones, top down: these themselves, those without."""
    steps = {
        path[:end]
        for path in (*folders, *(path.rpartition("/")[0] for path in parents_of))
        for end in range(1, len(path) + 1)
        if end == len(path) or path[end] == "/"
    }
    return sorted(steps, key=lambda path: (path.count("/"), path))


def pin(folders: tuple[str, ...], hidden: tuple[str, ...]) -> list[str]:
    """Make the way to these folders immovable; return what was pinned.

    The agent shares the file system: a root agent could `mv /run /elsewhere` and put its own
    socket, or `mv /opt` and its own interpreter, where the supervisor goes by path. What is a
    mount point cannot be renamed. Below a read-only mount nothing can be, so there it ends.
    """
    pinned = []
    for step in steps_to(folders, hidden):
        parent = step.rpartition("/")[0] or "/"
        if not os.statvfs(parent).f_flag & os.ST_RDONLY:
            syscalls.bind_over_itself(step)
            pinned.append(step)
    return pinned


def hide(folders: tuple[str, ...]) -> None:
    """Put empty read-only folders over the given ones, and a /proc of this namespace over /proc.

    Over-mounted and never unmounted: in gVisor files below an unmounted bind stay reachable
    (google/gvisor#12715).
    """
    for folder in folders:
        syscalls.mount("tmpfs", folder, flags=_HIDING, options="size=4k,mode=0555")
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    syscalls.mount("proc", "/proc", flags=flags)
    os.chdir("/")


def drop_powers() -> None:
    """Keep only what an agent may have, now and after any later execve."""
    allowed = capabilities.mask(capabilities.HARNESS)
    for number in range(64):
        if not allowed >> number & 1:
            syscalls.drop_bounding(number)
    syscalls.keep_capabilities(allowed)
    syscalls.set_no_new_privileges()
