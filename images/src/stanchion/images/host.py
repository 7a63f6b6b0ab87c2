"""What this machine is, as far as the pieces depend on it.

Reads os-release, the processor's name and the state folder's place. Decides nothing about
sandboxes and changes nothing.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.images.errors import UnsupportedHostError

DEBIAN_CODENAME = "bookworm"


@dataclass(frozen=True, slots=True)
class Architecture:
    """One processor family under the names that each ecosystem gives it."""

    debian: str
    machine: str
    npm: str
    loader: str
    """File name of the dynamic loader in Debian's libc6."""

    @property
    def triplet(self) -> str:
        """Debian's multiarch folder."""
        return f"{self.machine}-linux-gnu"


ARCHITECTURES = (
    Architecture("amd64", "x86_64", "x64", "ld-linux-x86-64.so.2"),
    Architecture("arm64", "aarch64", "arm64", "ld-linux-aarch64.so.1"),
)


def architecture(machine: str | None = None) -> Architecture:
    """The family this machine (or the named one) belongs to."""
    name = machine or platform.machine()
    for known in ARCHITECTURES:
        if known.machine == name:
            return known
    supported = ", ".join(known.machine for known in ARCHITECTURES)
    raise UnsupportedHostError(
        f"the processor family is {name}, but pieces exist for {supported} only; "
        "run on one of those"
    )


def os_release(text: str) -> dict[str, str]:
    """The fields of an os-release file."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def require_debian(making: str, release: Mapping[str, str] | None = None) -> None:
    """Refuse, by name, to make something that needs Debian 12's packages anywhere else."""
    fields = os_release(_os_release_text()) if release is None else release
    if (fields.get("ID"), fields.get("VERSION_CODENAME")) == ("debian", DEBIAN_CODENAME):
        return
    name = fields.get("PRETTY_NAME", "an unnamed system")
    raise UnsupportedHostError(
        f"{making} is put together from Debian 12's packages and this host is {name}; make it on "
        "a Debian 12 host or container, copy the cache folder here, and it will be used"
    )


def state_folder(environment: Mapping[str, str], *, is_root: bool) -> Path:
    """Where Stanchion keeps what it made, when nobody says otherwise."""
    if named := environment.get("STANCHION_STATE"):
        return Path(named)
    if is_root:
        return Path("/var/lib/stanchion")
    if base := environment.get("XDG_STATE_HOME"):
        return Path(base) / "stanchion"
    return Path(environment.get("HOME", "~")).expanduser() / ".local" / "state" / "stanchion"


def default_cache_dir() -> Path:
    """The cache folder of the default state folder."""
    return state_folder(os.environ, is_root=os.geteuid() == 0) / "cache"


def _os_release_text() -> str:
    for place in ("/etc/os-release", "/usr/lib/os-release"):
        if Path(place).is_file():
            return Path(place).read_text(encoding="utf-8")
    return ""
