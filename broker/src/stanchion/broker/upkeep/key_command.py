"""`stanchion key set`: a key from standard input, or from a hidden prompt, into its key file.

A key never comes as an argument: those are seen by every user and kept by the shell.
"""

import os
import sys
from pathlib import Path

import click

from stanchion.broker.secrets import MAX_FILE_BYTES


@click.group
def key() -> None:
    """Keys of provider accounts, kept in files that only you can read."""


@key.command("set")
@click.argument("name", metavar="PROFILE/ACCOUNT")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
def set_key(name: str, config: str | None) -> None:
    """Store the key of an account, read from standard input or asked for without an echo.

    Written to the account's `file:` credential: mode 0600, in a folder of mode 0700. A running
    broker takes it for the next attempt, which also mends an account that was stopped.
    """
    from stanchion.broker.upkeep.configured import find
    from stanchion.broker.upkeep.key_files import key_file, store_key

    found = find(config)
    file = key_file(found.config, name, folder=found.path.parent)
    store_key(file, _key(name), field=f"the key of {name}")
    click.echo(f"key of {name} stored in {_shown(file)}, mode 0600")
    click.echo("next:  stanchion broker check --live")


def _key(name: str) -> str:
    if sys.stdin.isatty():
        return str(click.prompt(f"Key of {name} (not shown)", hide_input=True, err=True))
    return sys.stdin.buffer.read(MAX_FILE_BYTES + 1).decode("utf-8", errors="replace")


def _shown(file: Path) -> str:
    return os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)
