"""Options that several commands share."""

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from stanchion.broker.client import StatePaths

state_dir = click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on standard output."
)


def state_paths(option: str | None) -> "StatePaths":
    """The places of the state folder that is meant."""
    from stanchion.broker.client import StatePaths

    return StatePaths.resolve(option, os.environ)
