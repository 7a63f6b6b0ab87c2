"""The errors table: what each error id means, its next command and the exit code it ends with.

It decides the exit code of every refusal and what is said after its sentence; it must never change
the sentence itself, which is written where the rule is.
"""

import tomllib
from functools import cache
from importlib import resources

import msgspec

from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import Refusal

DATA_NAME = "table.toml"
COMMAND = "stanchion "


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One error."""

    sentence: str
    """As the reader meets it, with what differs from case to case in capitals."""
    cause: str
    """Why it is an error, or what usually leads to it."""
    next: str | None = None
    """The command that helps; capitals stand for one's own values. None where none does."""
    exit: ExitCode = ExitCode.USAGE


@cache
def table() -> dict[str, Row]:
    """Every error by its id."""
    text = resources.files("stanchion.runner.errors").joinpath(DATA_NAME).read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Row])


def exit_code(error_id: str) -> ExitCode:
    """How a command ends with it; an id of a newer broker counts as wrong arguments."""
    row = table().get(error_id)
    return ExitCode.USAGE if row is None else row.exit


def next_command(refusal: Refusal) -> str | None:
    """The command to show after the sentence; None where the sentence names one itself."""
    if refusal.next is not None:
        return refusal.next
    row = table().get(refusal.id)
    if row is None or COMMAND in refusal.remedy:
        return None
    return row.next
