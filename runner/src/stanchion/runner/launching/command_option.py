"""What `--command` names: the file that describes a program of the user's, and its folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stanchion.harness_adapters.command.definition import read
from stanchion.protocol.launch import Command
from stanchion.protocol.refusal import refuse


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """The description, and where the program's files are on this host."""

    command: Command
    folder: str | None
    """Absolute; None = the image has the program."""


def read_command(file: Path) -> OwnCommand:
    """The file's content; RefusedError names what is missing or wrong in it."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise refuse(
            "command_unusable",
            field="--command",
            value=file,
            rule=f"it must be a readable text: {error}",
            remedy="Name a TOML file that describes the program",
        ) from error
    described = read(text, str(file))
    if described.program is None:
        return OwnCommand(described.command, None)
    folder = file.parent / described.program
    if not folder.is_dir():
        raise refuse(
            "command_unusable",
            field=f"{file}, program",
            value=described.program,
            rule="it is the folder with the program's files, from this file's folder",
            remedy="Name the folder, or leave program out for a program that the image has",
        )
    return OwnCommand(described.command, str(folder.resolve()))


def check_folder(folder: Path, private: Sequence[str]) -> None:
    """All of the folder is shown to the agent: no key and no state may be in it."""
    for place in map(Path, private):
        if place.resolve().is_relative_to(folder.resolve()):
            raise refuse(
                "command_unusable",
                field="program",
                value=folder,
                rule=f"the agent sees all of this folder, and {place} is in it, where keys or "
                "state of this host are",
                remedy="Put the program's files into a folder of their own",
            )
