"""`stanchion export`: the conversation of an attempt with its receipts, in a form others read."""

from pathlib import Path

import click

from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths


@click.command
@click.argument("run", metavar="RUN|PATH")
@click.option(
    "-o",
    "target",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="One file an attempt in this folder, in place of standard output.",
)
@state_dir_option
def export(run: str, *, target: Path | None, state_dir: str | None) -> None:
    """Print the trajectory of an attempt: ATIF v1.8, each step joined with its receipt.

    RUN is the id of an ended attempt; PATH an attempt's folder or a whole result folder, and needs
    no broker. Each attempt's `trajectory.json` is the same document; this makes it anew from
    transcript, receipts and result.
    """
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.results.job_folder import result_files, write_json
    from stanchion.runner.trajectory.files import read_trajectory

    with translated(as_json=False):
        folders = [file.parent for file in result_files(_path_of(run, state_dir))]
        if target is None and len(folders) > 1:
            raise click.UsageError(f"{len(folders)} attempts: name a folder for them with -o DIR")
        if target is None:
            click.echo(encode(read_trajectory(folders[0])))
            return
        target.mkdir(parents=True, exist_ok=True)
        for folder in folders:
            write_json(target / f"{folder.name}.json", read_trajectory(folder))
    click.echo(f"exported  {len(folders)} to {target}", err=True)


def _path_of(run: str, state_dir: str | None) -> Path:
    """The folder that is meant."""
    import asyncio

    from stanchion.protocol.refusal import refuse
    from stanchion.runner.live.targets import as_path, find_target

    path = as_path(run)
    if path is not None:
        return path
    target = asyncio.run(find_target(run, state_paths(state_dir)))
    if target.is_open or target.folder is None:
        raise refuse(
            "no_results",
            field="RUN",
            value=target.id,
            rule="a trajectory is of an attempt that has ended and left its folder here",
            remedy="Wait for its end; stanchion logs shows what it says meanwhile",
        )
    return target.folder
