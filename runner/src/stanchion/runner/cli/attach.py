"""`stanchion attach`: watch running attempts again; their keepers own them."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths

if TYPE_CHECKING:
    from stanchion.broker.client import StatePaths
    from stanchion.runner.live.targets import Target


@click.command
@click.argument("run", metavar="RUN|DIR")
@state_dir_option
def attach(run: str, *, state_dir: str | None) -> None:
    """Watch RUN again, or every attempt below the result folder DIR that still runs.

    Exits as `run` would: 0 graded, 1 score withheld. Ctrl-C asks: detach or cancel.
    """
    from stanchion.runner.cli.failures import translated

    with translated(as_json=False):
        code = asyncio.run(_attach(run, state_paths(state_dir)))
    click.get_current_context().exit(code)


async def _attach(run: str, paths: "StatePaths") -> int:
    from stanchion.runner.live.targets import as_path, find_open, open_below

    folder = as_path(run)
    if folder is None:
        return await _watch_one(await find_open(run, paths), paths, rejoin=run)
    targets = await open_below(folder, paths)
    if len(targets) == 1:
        return await _watch_one(targets[0], paths, rejoin=run)
    return await _watch_several(targets, paths, folder)


async def _watch_one(target: "Target", paths: "StatePaths", *, rejoin: str) -> int:
    from rich.console import Console

    from stanchion.broker.client import BrokerClient
    from stanchion.runner.cli.run_flow import attempt_exit_code
    from stanchion.runner.launching.interrupts import cancelling
    from stanchion.runner.launching.terminal_keys import Terminal
    from stanchion.runner.live.screen import attempt_title
    from stanchion.runner.live.watching import result_of, watch
    from stanchion.runner.screen.live_view import LiveView

    assert target.view is not None, "find_open sees to it"
    cancel = asyncio.Event()
    view = LiveView(Console(stderr=True), lines=True, spinner=True)
    view.title = attempt_title(target.id, target.view.launch.spec)
    async with BrokerClient(paths.admin_socket) as broker:
        with (
            view,
            cancelling(
                cancel,
                timeout_s=None,
                say=view.say,
                rejoin=f"stanchion attach {rejoin}",
                terminal=Terminal.of_this_process(),
            ) as interrupts,
        ):
            await watch(broker, target, cancel, view.show)
            result = await result_of(target)
    if result is None:
        click.echo(f"{target.id} has ended; see stanchion show {target.id}")
        return ExitCode.FAILED
    _print(target)
    return attempt_exit_code(result, interrupts.code)


async def _watch_several(targets: "list[Target]", paths: "StatePaths", folder: Path) -> int:
    """One line an ending; a screen for several attempts is `vitals --watch`."""
    from stanchion.broker.client import BrokerClient
    from stanchion.runner.cli.run_flow import attempt_exit_code
    from stanchion.runner.launching.interrupts import cancelling
    from stanchion.runner.launching.terminal_keys import Terminal
    from stanchion.runner.live.watching import result_of, watch

    cancel, codes = asyncio.Event(), list[int]()

    def say(text: str) -> None:
        click.echo(text, err=True)

    async def one(target: "Target") -> None:
        await watch(broker, target, cancel, lambda _event, _at_ms: None)
        result = await result_of(target)
        codes.append(
            ExitCode.FAILED if result is None else attempt_exit_code(result, interrupts.code)
        )
        say(f"{target.id} ended {result.outcome.reason if result else 'without a result file'}")

    say(f"{len(targets)} attempts run below {folder}; their vitals: stanchion vitals --watch")
    async with BrokerClient(paths.admin_socket) as broker:
        with cancelling(
            cancel,
            timeout_s=None,
            say=say,
            rejoin=f"stanchion attach {folder}",
            terminal=Terminal.of_this_process(),
        ) as interrupts:
            async with asyncio.TaskGroup() as group:
                for target in targets:
                    group.create_task(one(target))
    return max(codes, default=ExitCode.OK)


def _print(target: "Target") -> None:
    from stanchion.runner.live.show_sources import from_path, text_of

    assert target.note is not None, "there is a result"
    click.echo(text_of(from_path(Path(target.note.result_folder))))
