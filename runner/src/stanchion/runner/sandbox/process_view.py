"""What an attempt without gVisor sees of the host: a list of steps that build its root. Pure.

Programs and libraries are shown read-only; homes, state and everything else of the host are not
shown at all. Whatever the attempt writes goes into one scratch folder. Must never show a folder
that is not named here.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import PurePath, PurePosixPath

import msgspec

from stanchion.runner.sandbox.oci import AGENT_CAPABILITIES, HOSTNAME, OPEN_FILES, PATH, Bind

SHOWN = frozenset({
    "bin", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "sbin", "sys", "usr",
})  # fmt: skip
"""Folders of the host's root that hold programs, their libraries and their settings."""
OPT = "opt"
"""Shown folder by folder, since our own places lie in it."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
SCRATCH = {
    "root": 0o700, "home": 0o755, "run": 0o755, "var": 0o755, "var/tmp": 0o1777,
    "var/log": 0o755, "tmp": 0o1777, "mnt": 0o755, "srv": 0o755,
}  # fmt: skip
"""Folders that exist anew in the scratch folder."""
CAPABILITY_NUMBERS = {
    "CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_FOWNER": 3, "CAP_FSETID": 4, "CAP_KILL": 5,
    "CAP_SETGID": 6, "CAP_SETUID": 7, "CAP_SETPCAP": 8, "CAP_NET_BIND_SERVICE": 10,
    "CAP_SYS_CHROOT": 18, "CAP_MKNOD": 27, "CAP_AUDIT_WRITE": 29, "CAP_SETFCAP": 31,
}  # fmt: skip
"""As in linux/capability.h; they never change."""
HOSTS = "hosts"
"""The scratch folder's file that stands for /etc/hosts."""


class Kind(StrEnum):
    """One step. `mount`: a file system of type `what`; `cover`: an empty read-only one."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    BIND = "bind"
    MOUNT = "mount"
    COVER = "cover"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step, in order; `path` is inside the new root."""

    kind: Kind
    path: str
    what: str = ""
    """Source of a bind, target of a link, type of a file system."""
    options: str = ""
    mode: int = 0o755
    read_only: bool = False
    optional: bool = False
    """True = go on where it fails."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The order for the process that enters: everything it needs, nothing of the environment."""

    root: str
    """A fresh folder; becomes the root."""
    steps: tuple[Step, ...]
    command: tuple[str, ...]
    environment: dict[str, str]
    hostname: str
    own_network: bool
    open_files: int
    capabilities: tuple[int, ...]
    """What the attempt may have inside its user namespace."""
    join: tuple[str, ...] = ()
    """`cgroup.procs` files to enter first."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What is at the host's root and in its /opt: a link's target, or None for a folder."""

    top: Mapping[str, str | None]
    opt: Sequence[str] = ()
    has_hosts: bool = True


def entry(
    *,
    folder: PurePath,
    listed: Listed,
    binds: Sequence[Bind],
    command: tuple[str, ...],
    own_network: bool,
    hidden: Sequence[str] = (),
    join: Sequence[str] = (),
) -> Entry:
    """The whole order; `hidden` are the places of keys and state, wherever they are."""
    steps = [
        *_shown(listed, hidden),
        *(Step(kind=Kind.FOLDER, path=f"/{path}", mode=mode) for path, mode in SCRATCH.items()),
        *_devices(),
        Step(kind=Kind.FOLDER, path="/proc"),
        Step(kind=Kind.MOUNT, path="/proc", what="proc"),
    ]
    if listed.has_hosts:
        steps.append(Step(kind=Kind.BIND, path="/etc/hosts", what=str(folder / HOSTS)))
    for bind in binds:
        steps += [
            *_way_to(bind.destination),
            Step(kind=Kind.BIND, path=bind.destination, what=bind.source, read_only=True),
        ]
    return Entry(
        root=str(folder / "root"),
        steps=tuple(steps),
        command=command,
        environment={"PATH": PATH},
        hostname=HOSTNAME,
        own_network=own_network,
        open_files=OPEN_FILES,
        capabilities=tuple(CAPABILITY_NUMBERS[name] for name in AGENT_CAPABILITIES),
        join=tuple(join),
    )


def hosts_text() -> str:
    """/etc/hosts inside."""
    return f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n"


def _shown(listed: Listed, hidden: Sequence[str]) -> list[Step]:
    """Links as links, folders bound; covered wherever a hidden place lies in them."""
    steps: list[Step] = []
    shown: list[str] = []
    for name, target in sorted(listed.top.items()):
        if name in SHOWN and target is not None:
            steps.append(Step(kind=Kind.LINK, path=f"/{name}", what=target))
        elif name in SHOWN:
            shown.append(f"/{name}")
    steps.append(Step(kind=Kind.FOLDER, path=f"/{OPT}"))
    shown += [f"/{OPT}/{name}" for name in sorted(listed.opt) if not name.startswith("stanchion")]
    for path in shown:
        steps += [
            Step(kind=Kind.FOLDER, path=path),
            Step(kind=Kind.BIND, path=path, what=path, read_only=True),
        ]
    covered = [place for place in hidden if any(_is_within(place, path) for path in shown)]
    return [*steps, *(Step(kind=Kind.COVER, path=place) for place in covered)]


def _is_within(place: str, folder: str) -> bool:
    return PurePosixPath(place).is_relative_to(folder) and place != folder


def _devices() -> list[Step]:
    steps = [
        Step(kind=Kind.FOLDER, path="/dev"),
        Step(kind=Kind.MOUNT, path="/dev", what="tmpfs", options="mode=0755,size=1m"),
        Step(kind=Kind.FOLDER, path="/dev/shm", mode=0o1777),  # noqa: S108 - inside
        Step(kind=Kind.MOUNT, path="/dev/shm", what="tmpfs", options="mode=1777,size=64m"),  # noqa: S108
        Step(kind=Kind.FOLDER, path="/dev/pts"),
        Step(
            kind=Kind.MOUNT,
            path="/dev/pts",
            what="devpts",
            options="newinstance,ptmxmode=0666,mode=0620",
            optional=True,
        ),
    ]
    for name in DEVICES:
        steps += [
            Step(kind=Kind.FILE, path=f"/dev/{name}"),
            Step(kind=Kind.BIND, path=f"/dev/{name}", what=f"/dev/{name}"),
        ]
    links = (
        Step(kind=Kind.LINK, path=f"/dev/{name}", what=target)
        for name, target in DEVICE_LINKS.items()
    )
    return [*steps, *links]


def _way_to(path: str) -> list[Step]:
    parents = [str(parent) for parent in reversed(PurePosixPath(path).parents)][1:]
    return [Step(kind=Kind.FOLDER, path=parent) for parent in (*parents, path)]
