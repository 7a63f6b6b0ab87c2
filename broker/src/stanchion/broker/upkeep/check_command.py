"""`stanchion broker check`: does the configuration hold, can keys be read, do providers answer.

Options in, a report and an exit code out.
"""

import asyncio
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
import msgspec

from stanchion.protocol.exit_codes import ExitCode

if TYPE_CHECKING:
    from stanchion.broker.upkeep.report import AccountCheck, Report


@click.command
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@click.option("--live", is_flag=True, help="Ask each provider for its list of models, for free.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def check(context: click.Context, *, config: str | None, live: bool, as_json: bool) -> None:
    """Say whether each account's configuration, key and (with --live) provider are fine.

    No key is ever shown. Exits 0 if all is fine, 1 if something is not, 2 if the file is wrong.
    """
    from stanchion.broker.upkeep.checks import check_accounts
    from stanchion.broker.upkeep.configured import find

    report = asyncio.run(check_accounts(find(config), os.environ, live=live))
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        click.echo("\n".join(report_lines(report)))
    context.exit(ExitCode.OK if report.ok else ExitCode.FAILED)


def report_lines(report: "Report") -> list[str]:
    """For people: what was looked at, account by account."""
    count = len(report.accounts)
    lines = [f"{report.config}  ok, {count} account{'s' * (count != 1)}"]
    for account in report.accounts:
        lines += ["", *_account_lines(account)]
    bad = sum(not account.ok for account in report.accounts)
    lines += ["", f"not fine: {bad} of {count}" if bad else "all fine"]
    return lines


def _plain(base_url: str) -> str:
    from stanchion.broker.config import is_loopback

    if is_loopback(urlsplit(base_url).hostname or ""):
        return "plain http, within this machine"
    return "PLAIN HTTP: key and prompts can be read on the way"


def _account_lines(account: "AccountCheck") -> list[str]:
    way = "https, verified" if account.tls else _plain(account.base_url)
    proxy = "" if account.egress_proxy is None else f", through {account.egress_proxy}"
    mode = "" if account.mode is None else f", mode {account.mode}"
    lines = [
        f"{account.name}  {account.api}  {account.base_url}",
        f"  way         {way}{proxy}",
        f"  credential  {account.credential}{mode}",
    ]
    if account.live is not None:
        live = account.live
        status = "no answer" if live.status is None else str(live.status)
        seen = "" if live.duration_ms is None else f" ({live.duration_ms / 1000:.1f} s)"
        lines.append(f"  live        {live.request} -> {status}{seen}: {live.words}")
        if live.key_proven:
            lines.append("  key         accepted by the provider")
    problem = account.problem
    if problem is None:
        return [*lines, "  ok"]
    lines.append(f"  NOT OK      {problem.sentence()}")
    return [*lines, *([] if problem.next is None else [f"  next        {problem.next}"])]
