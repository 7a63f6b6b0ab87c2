"""Every way a command can fail: one sentence and the next command on standard error, one exit code.

With `--json` the one document on standard output is `{"error": …}`, whatever it was that failed.
Ids, exit codes and next commands come from the errors table; a bug keeps its trace.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import click

from stanchion.protocol.admin import ErrorReply
from stanchion.protocol.codec import encode
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import Refusal, RefusedError
from stanchion.runner.errors.table import exit_code, next_command


class FailedCommand(click.ClickException):
    """A refusal of the errors table, shown in both ways."""

    def __init__(
        self, refusal: Refusal, *, sentence: str | None = None, as_json: bool = False
    ) -> None:
        super().__init__(_one_line(sentence or refusal.sentence()))
        self.refusal = refusal
        self.exit_code = int(exit_code(refusal.id))  # type: ignore[misc]  # click reads it from the instance
        self._as_json = as_json

    def show(self, file: IO[str] | None = None) -> None:
        """The document, if asked for, on standard output; the sentence on standard error."""
        command = next_command(self.refusal)
        if self._as_json:
            click.echo(encode(ErrorReply(error=_with_next(self.refusal, command))))
        click.echo(f"error: {self.message}", file=file, err=True)
        if command is not None:
            click.echo(f"next:  {command}", file=file, err=True)


@contextmanager
def translated(*, as_json: bool) -> Iterator[None]:
    """Foreign exceptions become rows of the errors table, here and nowhere else."""
    try:
        yield
    except Exception as error:
        failed = failure_of(error, as_json=as_json)
        if failed is None or failed is error:
            raise
        raise failed from error


def failure_of(error: Exception, *, as_json: bool = False) -> FailedCommand | None:
    """How an exception is shown; None = it is a bug, which is not dressed up."""
    if isinstance(error, FailedCommand):
        return error
    if isinstance(error, RefusedError):
        return FailedCommand(error.refusal, as_json=as_json)
    found = _id_of(error)
    if found is None:
        return None
    sentence = _sentence(error)
    refusal = Refusal(
        id=found,
        field=_field(error),
        value=None,
        rule=sentence,
        remedy="",
        next=_own_next(error),
    )
    return FailedCommand(refusal, sentence=sentence, as_json=as_json)


def show_bug(*, as_json: bool) -> None:
    """The one document, also where the rest is a trace on standard error."""
    if as_json:
        bug = Refusal(
            id="internal",
            field="command",
            value=None,
            rule="an unexpected failure; its trace is on standard error",
            remedy="Please report it with the trace",
        )
        click.echo(encode(ErrorReply(error=bug)))


def refusal_code(refusal: Refusal) -> ExitCode:
    """78 where the gate refused it, else mostly wrong arguments."""
    return exit_code(refusal.id)


_IDS = {
    "click.exceptions.Abort": "interrupted",
    "stanchion.broker.client.http.BrokerUnreachableError": "broker_unreachable",
    "stanchion.images.errors.ImagesError": "pieces",
    "stanchion.runner.launching.attempt_run.AttemptError": "attempt_failed",
    "stanchion.runner.launching.brokers.BrokerStartError": "broker_not_started",
    "stanchion.protocol.codec.CodecError": "document_invalid",
    "builtins.OSError": "file_access",
}
"""By full name: a mistyped option must not wait for the import of a client it does not need."""


def _id_of(error: Exception) -> str | None:
    if isinstance(error, click.ClickException):
        default = "usage" if error.exit_code == ExitCode.USAGE else "failed"
        return str(getattr(error, "error_id", default))
    found = (_IDS.get(f"{kind.__module__}.{kind.__qualname__}") for kind in type(error).__mro__)
    name = next((name for name in found if name is not None), None)
    wrong_file = name == "broker_not_started" and getattr(error, "usage", False)
    return "config_invalid" if wrong_file else name


def _sentence(error: Exception) -> str:
    if isinstance(error, click.Abort):
        return "interrupted"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _field(error: Exception) -> str:
    """The option or argument that it is about, where click knows."""
    parameter = getattr(error, "param", None)
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    return "command"


def _own_next(error: Exception) -> str | None:
    """What the error itself knows: a command to paste, or the help of the command it is about."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.ctx.command_path} --help"
    said = getattr(error, "next_command", None) or getattr(error, "fix", None)
    return said if isinstance(said, str) else None


def _with_next(refusal: Refusal, command: str | None) -> Refusal:
    return Refusal(
        id=refusal.id,
        field=refusal.field,
        value=refusal.value,
        rule=refusal.rule,
        remedy=refusal.remedy,
        next=command,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
