"""The stanchion.toml that a command means, read. Finds and reads it; decides nothing."""

import os
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client.config_file import find_config
from stanchion.broker.config import Config, read_config
from stanchion.protocol.refusal import refuse


@dataclass(frozen=True, slots=True)
class Found:
    """A configuration and where it is."""

    path: Path
    config: Config


def find(option: str | None) -> Found:
    """The file of `--config`, else the one that `stanchion run` would find."""
    found = find_config(option, os.environ, folder=Path.cwd(), home=Path.home())
    if found is None:
        raise refuse(
            "config_missing",
            field="--config",
            value=None,
            rule="there is a stanchion.toml in this folder, above it or among the user's settings",
            remedy="Write one, or name one with --config",
        )
    return Found(found.path, read_config(found.path.read_bytes()))
