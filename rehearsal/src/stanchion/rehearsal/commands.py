"""The `stanchion rehearse` command: options in, exit code out.

It decides which options belong together and must never hold logic of its own beyond that.
"""

import os
from pathlib import Path

import click


class _Refused(click.ClickException):
    """With what the errors table of the `stanchion` command knows it by."""

    exit_code = 2

    def __init__(self, sentence: str, error_id: str = "rehearsal_not_started") -> None:
        super().__init__(sentence)
        self.error_id = error_id


@click.command
@click.option("--script", type=click.Path(path_type=Path), help="TOML script; default: built in.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any free one",
    help="Port on 127.0.0.1.",
)
@click.option(
    "--ready-fd",
    type=click.IntRange(3),
    help="Write the ready line to this descriptor as well, and close it.",
)
@click.option("--key-stdin", is_flag=True, help="Demand the key in the first line of stdin.")
@click.option("--die-with-stdin", is_flag=True, help="End when stdin is closed.")
@click.option(
    "--repeatable",
    is_flag=True,
    help="Ids and times from the request: the same again, byte by byte.",
)
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Append one JSON line a request: what arrived and what was sent, as digests.",
)
@click.pass_context
def rehearse(
    context: click.Context,
    script: Path | None,
    port: int,
    ready_fd: int | None,
    log: Path | None,
    *,
    key_stdin: bool,
    die_with_stdin: bool,
    repeatable: bool,
) -> None:
    """Run a scripted model provider on loopback, in place of a real one.

    Prints one JSON line with its port once it answers. Speaks OpenAI chat completions, OpenAI
    responses and Anthropic messages.
    """
    from stanchion.rehearsal.process import Settings, StartError, run
    from stanchion.rehearsal.script import BUILT_IN, ScriptError, load_script

    if ready_fd is not None and not _is_open(ready_fd):
        raise _Refused(
            f"--ready-fd: {ready_fd} is not an open descriptor; pass one that is inherited"
        )
    try:
        code = run(
            Settings(
                script=load_script(script) if script else BUILT_IN,
                port=port,
                ready_fd=ready_fd,
                log=log,
                key_stdin=key_stdin,
                die_with_stdin=die_with_stdin,
                repeatable=repeatable,
            )
        )
    except ScriptError as error:
        raise _Refused(str(error), "script_invalid") from error
    except StartError as error:
        raise _Refused(str(error)) from error
    context.exit(code)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
