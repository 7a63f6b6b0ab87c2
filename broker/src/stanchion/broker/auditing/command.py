"""The `stanchion audit` command: paths and keys in, reports and an exit code out.

It needs no broker and no network. It decides where trust comes from: `--key`, else the public key
of this machine's broker, and never anything in or beside a bundle.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from stanchion.broker.auditing.judging import Report


class _UsageError(click.ClickException):
    """With the id of its row in the errors table."""

    exit_code = 2

    def __init__(self, sentence: str, error_id: str = "usage") -> None:
        super().__init__(sentence)
        self.error_id = error_id


@click.command
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--key",
    "key_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Public key to trust, in place of this machine's broker; may be given more than once.",
)
@click.option(
    "--require",
    "demands",
    metavar="KEY=VALUE",
    multiple=True,
    help="Demand it of every attempt: effort, output_limit, model, reasoning=present, "
    "length_stops=0, isolation, harness, outcome, policy or profile.",
)
@click.option("--state-dir", metavar="DIR", help="State folder whose broker is trusted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table, one row an attempt.")
@click.pass_context
def audit(
    context: click.Context,
    paths: tuple[Path, ...],
    key_files: tuple[Path, ...],
    demands: tuple[str, ...],
    state_dir: str | None,
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Check receipts offline: is every byte as signed, by whom, and what does it prove.

    PATH is a bundle, an attempt directory or a result directory, whose job.receipts say which
    attempts there must be. Exit code: 0 verified, 1 a
    requirement failed, 3 incomplete or signer unknown, 4 tampered; over several paths the worst.
    """
    from stanchion.broker.auditing.judging import Report, broken, judge, missing, worst
    from stanchion.broker.auditing.paths import Found, PathError, contradiction, find
    from stanchion.broker.auditing.requirements import RequirementError, parse_requirement
    from stanchion.broker.auditing.table import csv_text
    from stanchion.broker.receipts.bundle import Broken, verify
    from stanchion.broker.receipts.signing import KeyFileError
    from stanchion.protocol.codec import encode

    if as_json and as_csv:
        raise _UsageError("--json and --csv exclude each other: one document goes out")
    try:
        requirements = [parse_requirement(text) for text in demands]
        trusted_keys = _trusted_keys(key_files, state_dir)
        attempts = {found.path.resolve(): found for path in paths for found in find(path)}
    except RequirementError as error:
        raise _UsageError(str(error), "requirement_invalid") from error
    except KeyFileError as error:
        raise _UsageError(str(error), "key_file_unusable") from error
    except PathError as error:
        raise _UsageError(str(error), "nothing_to_audit") from error

    heads: dict[str, str] = {}

    def report(found: Found) -> Report:
        if found.data is None:
            return missing(str(found.path))
        bundle = verify(found.data)
        if isinstance(bundle, Broken):
            return broken(str(found.path), bundle)
        heads[f"{bundle.header.run}.{bundle.header.attempt}"] = bundle.head
        return judge(
            bundle,
            path=str(found.path),
            trusted_keys=trusted_keys,
            requirements=requirements,
            contradiction=contradiction(bundle, found.result),
        )

    reports = [report(found) for found in attempts.values()]
    reports += _job_reports(paths, trusted_keys, heads)
    if as_json:
        click.echo(encode(reports))
    elif as_csv:
        click.echo(csv_text(reports), nl=False)
    else:
        from rich.console import Console

        from stanchion.broker.auditing.text import print_reports

        print_reports(reports, Console(file=sys.stdout, highlight=False))
    context.exit(worst(reports))


def _job_reports(
    paths: tuple[Path, ...], trusted_keys: frozenset[str], heads: dict[str, str]
) -> "list[Report]":
    """On the lists of attempts, where the paths have some."""
    from stanchion.broker.auditing.job_judging import judge_job
    from stanchion.broker.auditing.paths import find_jobs, reports_beside
    from stanchion.broker.receipts.bundle import Broken
    from stanchion.broker.receipts.job_chain import verify_job

    def report(file: Path) -> "Report":
        job = verify_job(file.read_bytes())
        closing = None if isinstance(job, Broken) else job.closing
        names = () if closing is None else closing.reports
        return judge_job(
            job,
            path=str(file),
            trusted_keys=trusted_keys,
            heads=heads,
            reports=reports_beside(file, names),
        )

    files = [file for path in paths for file in find_jobs(path)]
    return [report(file) for file in {file.resolve(): file for file in files}.values()]


def _trusted_keys(key_files: tuple[Path, ...], state_dir: str | None) -> frozenset[str]:
    from stanchion.broker.client import StatePaths
    from stanchion.broker.receipts.signing import read_public_key

    if not key_files:
        own = StatePaths.resolve(state_dir, os.environ).public_key_file
        key_files = (own,) if own.exists() else ()
    return frozenset(read_public_key(file) for file in key_files)
