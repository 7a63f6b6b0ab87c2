"""`stanchion run`: tasks, a harness, a model; every attempt watched and graded."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.dialects import Dialect
from stanchion.runner.cli.run_flow import Ways, run_flow
from stanchion.runner.cli.run_flow import attempt_exit_code as exit_code
from stanchion.runner.cli.run_options import (
    Tokens,
    answer_paths,
    folders_of,
    memory_mb,
    model_of,
    split_model,
)

if TYPE_CHECKING:
    from stanchion.runner.launching.resolve import Options

__all__ = ["answer_paths", "exit_code", "memory_mb", "run", "split_model"]

TOKENS = Tokens()
BUDGET = Tokens(0)
COUNT = click.IntRange(1, 10_000)


@click.command
@click.argument(
    "tasks",
    metavar="TASK...",
    nargs=-1,
    type=click.Path(path_type=Path, exists=True),
)
@click.option("--harness", metavar="NAME[@VERSION]", help="Which agent program.")
@click.option(
    "--command",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Describes a program of your own; --harness command.",
)
@click.option("--model", metavar="ACCOUNT/MODEL", help="Whose model; which one.")
@click.option("--profile", help="Who pays; may be left out where only one has the account.")
@click.option("--effort", metavar="WORD", help="Reasoning effort, a word the provider's API knows.")
@click.option("--effort-raw", metavar="WORD", help="The same, unchecked.")
@click.option("--thinking-budget", type=BUDGET, help="Tokens to think with, of the output limit.")
@click.option("--output-limit", type=TOKENS, help="Most tokens one response may have.")
@click.option("--context", type=TOKENS, help="Context window of the model, in tokens.")
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Result folder; a fresh one.")
@click.option("-k", "attempts", type=COUNT, help="Attempts of each task.  [default: 1]")
@click.option("-n", "concurrency", type=COUNT, help="Attempts at a time.  [default: one a CPU]")
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    help="More tries of an attempt whose score is withheld, where its ending advises it.",
)
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Go on with the job of this result folder.",
)
@click.option("--image", metavar="DIR[@sha256:…]", help="An unpacked root file system to run in.")
@click.option("--answer", multiple=True, metavar="PATH", help="File a clean run must leave behind.")
@click.option(
    "--dialect",
    type=click.Choice([dialect.value for dialect in Dialect]),
    help="API to speak; default: the account's, or for the rehearsal's the harness's own.",
)
@click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Cancel after these seconds.")
@click.option("--memory", metavar="SIZE", help="Memory limit of the sandbox, such as 4G.")
@click.option(
    "--sandbox",
    type=click.Choice(["runsc", "process"]),
    default="runsc",
    show_default=True,
    help="process: namespaces of this kernel alone, for hosts without gVisor or root.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan and start nothing.")
@click.option("--print-spec", is_flag=True, help="Print the launch spec and start nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--follow/--no-follow", default=True, help="Show what runs as it runs.")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
def run(
    tasks: tuple[Path, ...],
    *,
    harness: str | None,
    command: Path | None,
    model: str | None,
    profile: str | None,
    effort: str | None,
    effort_raw: str | None,
    thinking_budget: int | None,
    output_limit: int | None,
    folder: Path | None,
    attempts: int | None,
    concurrency: int | None,
    retries: int | None,
    resume: Path | None,
    image: str | None,
    answer: tuple[str, ...],
    dialect: str | None,
    timeout_s: int | None,
    memory: str | None,
    sandbox: str,
    dry_run: bool,
    print_spec: bool,
    as_json: bool,
    follow: bool,
    config: str | None,
    state_dir: str | None,
    context: int | None,
) -> None:
    """Run each TASK in a sandbox with a coding-agent harness, watch it, grade it.

    Exits 0 if all attempts were graded, whatever their scores; 1 if a score is withheld or an
    attempt did not start; 78 if the gate refused it.
    """
    from stanchion.protocol.launch import SandboxKind
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.jobs.prepare import JobRequest
    from stanchion.runner.launching.resolve import Options

    if harness is None and command is not None:
        harness = "command"

    def options() -> "Options | None":
        """None where a resumed job knows them."""
        from stanchion.harness_adapters.registry import adapter
        from stanchion.runner.launching.command_option import read_command

        if harness is None:
            if model is None and resume is not None:
                return None
            raise click.MissingParameter(param_hint="'--harness'", param_type="option")
        name, _, version = harness.partition("@")
        own = None if command is None else read_command(command)
        program = None if own is None else own.command
        account, model_id = model_of(model, adapter(name, program))
        return Options(
            harness=name,
            harness_version=version or None,
            account=account,
            model=model_id,
            effort=effort,
            effort_raw=effort_raw,
            thinking_budget=thinking_budget,
            output_limit=output_limit,
            context=context,
            answers=answer_paths(answer),
            memory_mb=memory_mb(memory),
            image=image,
            sandbox=SandboxKind(sandbox),
            dialect=None if dialect is None else Dialect(dialect),
            command=program,
            program=None if own is None else own.folder,
        )

    ways = Ways(
        print_spec=print_spec,
        dry_run=dry_run,
        as_json=as_json,
        follow=follow,
        timeout_s=timeout_s,
    )
    with translated(as_json=as_json):
        request = JobRequest(
            tasks=tuple(folders_of(tasks)),
            options=options(),
            profile=profile,
            config=config,
            state_dir=state_dir,
            folder=folder,
            attempts=attempts,
            concurrency=concurrency,
            retries=retries,
            resume=resume,
        )
        code = asyncio.run(run_flow(request, ways))
    click.get_current_context().exit(code)
