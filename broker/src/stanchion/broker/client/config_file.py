"""Which stanchion.toml a command means.

`--config`, else $STANCHION_CONFIG, else the nearest one from the current folder upwards, else the
user's. Only finds it; the broker reads it. None is fine: the rehearsal profile needs no file.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.refusal import refuse

NAME = "stanchion.toml"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file and the digest of its content."""

    path: Path
    sha256: str


def find_config(
    option: str | None, environment: Mapping[str, str], *, folder: Path, home: Path
) -> ConfigFile | None:
    """The file; RefusedError where one was named that cannot be read."""
    for field, named in (
        ("--config", option),
        ("$STANCHION_CONFIG", environment.get("STANCHION_CONFIG")),
    ):
        if named:
            return _read(folder / named, field)
    user_folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "stanchion"
    for place in (folder, *folder.parents, user_folder):
        if (place / NAME).is_file():
            return _read(place / NAME, NAME)
    return None


def _read(path: Path, field: str) -> ConfigFile:
    path = path.absolute()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refuse(
            "config_unreadable",
            field=field,
            value=path,
            rule=f"the file cannot be read ({error.strerror})",
            remedy="name a readable stanchion.toml",
        ) from error
    return ConfigFile(path=path, sha256=hashlib.sha256(content).hexdigest())
