"""The words of `stanchion run`'s options, checked one by one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from stanchion.harness_adapters.base import Adapter

MOST_TOKENS = 100_000_000
NO_MODEL = "rehearsal/none"
"""Stands for the model of a harness that asks none."""


class Tokens(click.IntRange):
    """A number of tokens: plain digits, so that nobody has to guess what a k stands for."""

    name = "tokens"

    def __init__(self, least: int = 1) -> None:
        super().__init__(least, MOST_TOKENS)
        self._least = least

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        text = str(value).replace("_", "")
        plain = text.isascii() and text.isdecimal()  # not all that int() would take
        if not plain or not self._least <= int(text) <= MOST_TOKENS:
            self.fail(f"{value!r} is no whole number of tokens, such as 131072", param, ctx)
        return int(text)


def split_model(text: str) -> tuple[str, str]:
    """Account and model id: MODEL is all after the first slash."""
    account, slash, model = text.partition("/")
    if not (account and slash and model):
        raise click.BadParameter(
            f"{text!r} is not ACCOUNT/MODEL, as in anthropic/ID", param_hint="--model"
        )
    return account, model


def model_of(model: str | None, harness: "Adapter") -> tuple[str, str]:
    """The same; only a harness that asks no model may do without."""
    if model is None and harness.asks_model:
        raise click.MissingParameter(param_hint="'--model'", param_type="option")
    return split_model(model or NO_MODEL)


def folders_of(paths: tuple[Path, ...]) -> list[Path]:
    """The tasks among the paths; says which files beside them are passed over."""
    from stanchion.runner.tasks.folders import task_folders

    folders, files = task_folders(paths) if paths else ([], [])
    for file in files:
        click.echo(f"passed over: {file} is a file, not a task", err=True)
    return folders


def answer_paths(paths: tuple[str, ...]) -> tuple[str, ...] | None:
    """The declared answers, if any was given."""
    for path in paths:
        if not path.startswith("/") or ".." in path.split("/"):
            raise click.BadParameter(
                f"{path!r} must be an absolute path without ..", param_hint="--answer"
            )
    return paths or None


def memory_mb(text: str | None) -> int | None:
    """Megabytes of a size; a bare number is megabytes."""
    from stanchion.runner.tasks.task_values import parse_size_mb

    if text is None:
        return None
    size_mb = int(text) if text.isdecimal() else parse_size_mb(text)
    if not size_mb:
        raise click.BadParameter(f"{text!r} is no size, such as 4G or 3000", param_hint="--memory")
    return size_mb
