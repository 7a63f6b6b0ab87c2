"""The root command: finds each part's own commands by entry point, loads only what is called.

One line of help a command is kept here for those of this distribution, so that listing them imports
nothing; a command of another distribution is loaded to be listed.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

GROUP = "stanchion.commands"
OWN = {
    "attach": "stanchion.runner.cli.attach:attach",
    "cancel": "stanchion.runner.cli.cancel:cancel",
    "demo": "stanchion.runner.cli.demo:demo",
    "doctor": "stanchion.runner.cli.doctor:doctor",
    "export": "stanchion.runner.cli.export:export",
    "harness": "stanchion.runner.cli.harness:harness",
    "init": "stanchion.runner.cli.init:init",
    "limits": "stanchion.runner.cli.limits:limits",
    "logs": "stanchion.runner.cli.logs:logs",
    "ps": "stanchion.runner.cli.ps:ps",
    "rerun": "stanchion.runner.cli.rerun:rerun",
    "run": "stanchion.runner.cli.run:run",
    "show": "stanchion.runner.cli.show:show",
    "smoke": "stanchion.runner.cli.smoke:smoke",
    "status": "stanchion.runner.cli.status:status",
    "task": "stanchion.runner.cli.task:task",
    "vitals": "stanchion.runner.cli.vitals:vitals",
}
SHORT_HELP = {
    "attach": "Watch a running attempt again.",
    "audit": "Verify receipts offline.",
    "broker": "The host daemon that holds the provider keys.",
    "cancel": "Cancel a running attempt.",
    "demo": "Everything on this machine, no key needed.",
    "doctor": "What this host can do, and the command for each missing thing.",
    "harness": "Agent programs: list, fetch, and check what they really send.",
    "export": "An attempt as ATIF: each step joined with its receipt.",
    "init": "Write a commented stanchion.toml.",
    "key": "Keys of provider accounts, in files that only you can read.",
    "limits": "Which output limit, context and effort words a model gets.",
    "images": "The pieces that sandboxes are put together from.",
    "logs": "What an agent said and did.",
    "ps": "The attempts of this broker.",
    "rehearse": "A scripted model provider on loopback.",
    "rerun": "Another attempt of the same frozen spec.",
    "run": "Run tasks with a coding-agent harness and grade them.",
    "show": "How an attempt ended, or stands.",
    "smoke": "Two tasks: what of effort, limit and reasoning reached the wire.",
    "status": "Where a job stands, from its result folder.",
    "task": "Tasks of your own: check them, start a new one.",
    "vitals": "Where attempts are and what they use.",
}


class Root(click.Group):
    """Commands by name, imported when they are called. Its failures are the errors table's."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's own
        **extra: Any,
    ) -> Any:
        """Ends the process with the command's exit code, whoever's command it is."""
        arguments = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(arguments, prog_name, complete_var, False, **extra)
        try:
            code = super().main(arguments, prog_name, complete_var, False, **extra)
        except Exception as error:
            code = _show(error, arguments)
            if code is None:
                raise
        sys.exit(code if isinstance(code, int) else 0)

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


def _show(error: Exception, arguments: list[str]) -> int | None:
    """Show a failure; its exit code, or None where it is a bug."""
    from stanchion.runner.cli.failures import failure_of, show_bug

    as_json = "--json" in arguments
    failed = failure_of(error, as_json=as_json)
    if failed is None:
        show_bug(as_json=as_json)
        return None
    failed.show()
    return failed.exit_code


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@click.command(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stanchion", prog_name="stanchion")
def root() -> None:
    """Know what your coding agents were really asked, and never score a dead one as wrong."""


def main() -> None:
    """The `stanchion` command."""
    root(prog_name="stanchion")
