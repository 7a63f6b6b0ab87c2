"""The runtime configuration of one sandbox, as the bytes of its config.json. Pure.

Decides which host paths a sandbox sees, with which capabilities and limits process 1 starts. Must
never put a secret, or anything of the host's environment, into it. Field names: OCI runtime
specification 1.0, config.md and config-linux.md.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

import msgspec

BUNDLE_DIR = "/opt/stanchion"
ATTEMPT_DIR = "/run/stanchion"
HARNESS_DIR = "/opt/stanchion-harness"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOSTNAME = "task"

AGENT_CAPABILITIES = (
    "CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
    "CAP_MKNOD", "CAP_NET_BIND_SERVICE", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID",
    "CAP_SYS_CHROOT",
)  # fmt: skip
"""What package managers, su and chroot need; the agent gets no more than a subset of these."""
SUPERVISOR_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SYS_PTRACE")
"""For namespaces and for looking into the children; gone before the harness starts."""

OPEN_FILES = 65_536
PROCESSES = 4_096
"""By rlimit: a pids cgroup would count the sentry's own threads and kill it instead of the fork."""
CPU_PERIOD_US = 100_000
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bind:
    """A host folder, shown read-only."""

    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Box:
    """What one sandbox is made of."""

    rootfs: str
    binds: tuple[Bind, ...]
    arguments: tuple[str, ...]
    memory_mb: int
    cgroups_path: str | None
    """Below one permanent parent; None where no cgroup can be had."""
    cpu_milli: int | None = None


def harness_place(name: str, version: str) -> str:
    """Where a harness's package is seen inside."""
    return str(PurePosixPath(HARNESS_DIR) / name / version)


def config_json(box: Box) -> bytes:
    """The config.json of the box."""
    capabilities = sorted((*AGENT_CAPABILITIES, *SUPERVISOR_CAPABILITIES))
    return msgspec.json.encode(
        {
            "ociVersion": "1.0.0",
            "hostname": HOSTNAME,
            "root": {"path": box.rootfs, "readonly": False},
            "process": {
                "terminal": False,
                "user": {"uid": 0, "gid": 0},
                "cwd": "/",
                "env": [f"PATH={PATH}"],
                "args": list(box.arguments),
                # The supervisor must be able to give its helper CAP_SYS_ADMIN; the shim sets it.
                "noNewPrivileges": False,
                "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), capabilities),
                "rlimits": [
                    {"type": "RLIMIT_NOFILE", "soft": OPEN_FILES, "hard": OPEN_FILES},
                    {"type": "RLIMIT_NPROC", "soft": PROCESSES, "hard": PROCESSES},
                ],
            },
            "mounts": _mounts(box),
            "linux": _linux(box),
        },
        order="deterministic",
    )


def _mounts(box: Box) -> list[dict[str, object]]:
    """Memory-backed folders are sized: past the memory limit they would kill the whole sandbox."""
    mounts: list[dict[str, object]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
        _tmpfs("/tmp", size_mb=max(64, box.memory_mb // 4)),  # noqa: S108 - inside the sandbox
        _tmpfs("/dev/shm", size_mb=max(64, box.memory_mb // 8)),  # noqa: S108 - as above
    ]
    return [*mounts, *(_bind(bind) for bind in box.binds)]


def _bind(bind: Bind) -> dict[str, object]:
    options = ["rbind", "ro"]
    return {
        "destination": bind.destination,
        "type": "bind",
        "source": bind.source,
        "options": options,
    }


def _tmpfs(destination: str, *, size_mb: int) -> dict[str, object]:
    options = ["nosuid", "nodev", "mode=1777", f"size={size_mb}m"]
    return {"destination": destination, "type": "tmpfs", "source": "tmpfs", "options": options}


def _linux(box: Box) -> dict[str, object]:
    resources: dict[str, object] = {"memory": {"limit": box.memory_mb * MIB}}
    if box.cpu_milli is not None:
        quota_us = box.cpu_milli * CPU_PERIOD_US // 1000
        resources["cpu"] = {"quota": quota_us, "period": CPU_PERIOD_US}
    linux: dict[str, object] = {
        "namespaces": [{"type": kind} for kind in ("pid", "mount", "uts", "ipc", "network")],
        "resources": resources,
    }
    if box.cgroups_path is not None:
        linux["cgroupsPath"] = box.cgroups_path
    return linux
