"""The root command: finds each part's own commands by entry point, loads only what is called.

One line of help a command is kept here for those of this distribution, so that listing them imports
nothing; a command of another distribution is loaded to be listed.
"""

import importlib
from importlib.metadata import EntryPoint, entry_points

import click

GROUP = "stanchion.commands"
OWN = {
    "demo": "stanchion.runner.cli.demo:demo",
    "doctor": "stanchion.runner.cli.doctor:doctor",
    "run": "stanchion.runner.cli.run:run",
    "show": "stanchion.runner.cli.show:show",
}
SHORT_HELP = {
    "audit": "Verify receipts offline.",
    "broker": "The host daemon that holds the provider keys.",
    "demo": "Everything on this machine, no key needed.",
    "doctor": "What this host can do, and the command for each missing thing.",
    "images": "The pieces that sandboxes are put together from.",
    "rehearse": "A scripted model provider on loopback.",
    "run": "Run a task with a coding-agent harness and grade it.",
    "show": "Show the result of an attempt.",
}


class Root(click.Group):
    """Commands by name, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        return sorted({*OWN, *_entries()})

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's own
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name in OWN:
            module, _, attribute = OWN[cmd_name].partition(":")
            loaded = getattr(importlib.import_module(module), attribute)
        elif entry := _entries().get(cmd_name):
            loaded = entry.load()
        else:
            return None
        assert isinstance(loaded, click.Command)
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._short_help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in SHORT_HELP:
            return SHORT_HELP[name]
        command = self.get_command(ctx, name)
        return command.get_short_help_str() if command else ""


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@click.command(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stanchion", prog_name="stanchion")
def root() -> None:
    """Know what your coding agents were really asked, and never score a dead one as wrong."""


def main() -> None:
    """The `stanchion` command."""
    root(prog_name="stanchion")
