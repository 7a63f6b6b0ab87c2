"""How the broker's own commands fail: a sentence, an exit code, and what the errors table needs.

`stanchion` shows every failure in one form; this is the same for `python -m stanchion.broker`.
"""

import sys
from collections.abc import Callable
from typing import IO, NoReturn

import click

from stanchion.broker.client import BrokerUnreachableError
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import RefusedError


class BrokerFailedError(click.ClickException):
    """An action of the broker's that failed, though it was asked for rightly."""

    exit_code = int(ExitCode.FAILED)
    error_id = "broker_failed"

    def __init__(self, sentence: str, *, next_command: str | None = None) -> None:
        super().__init__(sentence)
        self.next_command = next_command

    def show(self, file: IO[str] | None = None) -> None:
        """One line."""
        click.echo(f"error: {self.message}", file=file, err=True)


def run_alone(command: Callable[[], object]) -> NoReturn:
    """Run a command without the `stanchion` command around it; ends the process."""
    try:
        command()
    except RefusedError as error:
        code = _said(error, ExitCode.USAGE)
    except BrokerUnreachableError as error:
        code = _said(error, ExitCode.BROKER_UNREACHABLE)
    else:
        code = int(ExitCode.OK)
    sys.exit(code)


def _said(error: Exception, code: ExitCode) -> int:
    click.echo(f"error: {error}", err=True)
    return int(code)
