"""Which Linux capabilities exist and which of them an agent may hold.

Pure tables and bit arithmetic. Numbers are those of linux/capability.h and never change.
"""

NAMES = (
    "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
    "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW",
    "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
    "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
    "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
    "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
)  # fmt: skip
"""By number, from 0."""

HARNESS = frozenset({
    "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
    "NET_BIND_SERVICE", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP",
})  # fmt: skip
"""What a root agent keeps: the default set of Docker, which task images are written for, without
NET_RAW. apt, dpkg, su, sudo, useradd and chroot work with it; mounting and tracing do not."""

SUPERVISOR = HARNESS | {"SYS_ADMIN", "SYS_PTRACE"}
"""What process 1 of a sandbox needs: namespaces and mounts, and a look at the agent's processes."""


def mask(names: frozenset[str]) -> int:
    """The set as a bit mask, as /proc/PID/status shows it."""
    return sum(1 << NAMES.index(name) for name in names)


def outside(bits: int, allowed: frozenset[str]) -> int:
    """The bits that are set beyond the allowed ones, known names or not."""
    return bits & ~mask(allowed)
