"""Where the state of an installation lives. Pure paths; nothing is made here."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StatePaths:
    """The state folder and the places in it."""

    root: Path

    @classmethod
    def resolve(
        cls, option: str | None, env: Mapping[str, str], *, euid: int | None = None
    ) -> "StatePaths":
        """The folder from `--state-dir`, $STANCHION_STATE, or the default of this user."""
        named = option or env.get("STANCHION_STATE")
        if named:
            return cls(Path(named).absolute())
        if (os.geteuid() if euid is None else euid) == 0:
            return cls(Path("/var/lib/stanchion"))
        home = env.get("XDG_STATE_HOME") or f"{env.get('HOME', '')}/.local/state"
        return cls(Path(home) / "stanchion")

    @property
    def broker_dir(self) -> Path:
        """The broker's own folder."""
        return self.root / "broker"

    @property
    def admin_socket(self) -> Path:
        """Where the admin API listens."""
        return self.broker_dir / "admin.sock"

    @property
    def pid_file(self) -> Path:
        """The running broker's process id."""
        return self.broker_dir / "broker.pid"

    @property
    def log_file(self) -> Path:
        """The broker's log."""
        return self.broker_dir / "broker.log"

    @property
    def public_key_file(self) -> Path:
        """Verifies what this broker signed."""
        return self.broker_dir / "signing.pub"

    @property
    def cache_dir(self) -> Path:
        """Bundles, root file systems and harness packages."""
        return self.root / "cache"


def runtime_dir(env: Mapping[str, str], *, euid: int | None = None) -> Path:
    """Below which attempt directories are made."""
    if (os.geteuid() if euid is None else euid) == 0:
        return Path("/run/stanchion")
    base = env.get("XDG_RUNTIME_DIR")
    return Path(base) / "stanchion" if base else Path(f"/tmp/stanchion-{os.getuid()}")  # noqa: S108
