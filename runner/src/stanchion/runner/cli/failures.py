"""Every way a command can fail, as one sentence on standard error and one exit code."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import click

from stanchion.broker.client import BrokerUnreachableError
from stanchion.images.errors import ImagesError
from stanchion.protocol.admin import ErrorReply
from stanchion.protocol.codec import CodecError, encode
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import Refusal, RefusedError
from stanchion.runner.launching.attempt_run import AttemptError
from stanchion.runner.launching.brokers import BrokerStartError

POLICY_REFUSALS = frozenset({"limit_undeclared", "limit_missing", "effort_undeclared"})
"""The gate's own: a policy forbids the launch as it is; all others are wrong arguments."""


class FailedCommand(click.ClickException):
    """A sentence and an exit code; with `--json` also the refusal as the one document."""

    def __init__(self, sentence: str, code: ExitCode, document: bytes | None = None) -> None:
        super().__init__(sentence)
        self.exit_code = int(code)  # type: ignore[misc]  # click reads it from the instance
        self._document = document

    def show(self, file: IO[str] | None = None) -> None:
        if self._document is not None:
            click.echo(self._document)
        click.echo(f"error: {self.message}", file=file, err=True)


@contextmanager
def translated(*, as_json: bool) -> Iterator[None]:
    """Foreign exceptions become a sentence and a code, here and nowhere else."""
    try:
        yield
    except RefusedError as error:
        document = encode(ErrorReply(error=error.refusal)) if as_json else None
        raise FailedCommand(str(error), refusal_code(error.refusal), document) from error
    except BrokerUnreachableError as error:
        raise FailedCommand(str(error), ExitCode.BROKER_UNREACHABLE) from error
    except BrokerStartError as error:
        code = ExitCode.USAGE if error.usage else ExitCode.BROKER_UNREACHABLE
        raise FailedCommand(str(error), code) from error
    except OSError as error:
        raise FailedCommand(f"{error.filename}: {error.strerror}", ExitCode.FAILED) from error
    except (ImagesError, AttemptError, CodecError) as error:
        raise FailedCommand(str(error), ExitCode.FAILED) from error


def refusal_code(refusal: Refusal) -> ExitCode:
    """78 where a policy refused it at the gate, else wrong arguments."""
    return ExitCode.REFUSED if refusal.id in POLICY_REFUSALS else ExitCode.USAGE
