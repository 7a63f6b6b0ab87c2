"""Whether a command that is shown to people exists: its words and options, not its arguments."""

import shlex

import click

from stanchion.runner.cli.root import root

OTHER_PROGRAMS = {"chmod", "sudo", "apt-get"}


def resolves(command: str) -> bool:
    """As the shell and then click would find it."""
    words = shlex.split(command)
    if words[0] in OTHER_PROGRAMS:
        return True
    if words[0] != "stanchion":
        return False
    current: click.Command = root
    context = click.Context(root, info_name="stanchion")
    for word in words[1:]:
        if word.startswith("-"):
            known = {name for parameter in current.get_params(context) for name in parameter.opts}
            if word.partition("=")[0] not in known | {"--help", "-h"}:
                return False
        elif isinstance(current, click.Group):
            found = current.get_command(context, word)
            if found is None:
                return False
            current = found
    return not isinstance(current, click.Group) or words[-1] == "--help"
