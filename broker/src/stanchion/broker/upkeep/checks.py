"""Checks every account of a configuration, with its key, and on demand at its provider.

Runs in a short process of its own, because it reads the keys; it prints none, starts no broker and
changes nothing.
"""

import asyncio
import stat
from collections.abc import MutableMapping
from pathlib import Path

import msgspec

from stanchion.broker.config import REHEARSAL, Account, split_base_url
from stanchion.broker.egress import Egress
from stanchion.broker.secrets import Secret, load_secret
from stanchion.broker.upkeep.asking import ask, question
from stanchion.broker.upkeep.configured import Found
from stanchion.broker.upkeep.report import (
    AccountCheck,
    Live,
    Report,
    answer_problem,
    answer_words,
    unreachable,
)
from stanchion.protocol.refusal import RefusedError


async def check_accounts(found: Found, environ: MutableMapping[str, str], *, live: bool) -> Report:
    """All of them, in the order of the file; RefusedError for what all have in common."""
    config, folder = found.config, found.path.parent
    egress = Egress.of(config.broker, folder=folder)
    standing = [
        (_check(f"{profile}/{name}", table, config.broker.egress_proxy, folder), table)
        for profile, accounts in config.profiles.items()
        for name, table in accounts.accounts.items()
        if profile != REHEARSAL
    ]
    checks = [
        _with_key(check, table, folder, dict(environ), egress if live else None)
        for check, table in standing
    ]
    accounts = tuple(await asyncio.gather(*checks))
    return Report(
        ok=all(check.ok for check in accounts),
        config=str(found.path),
        sha256=config.sha256,
        accounts=accounts,
    )


def _check(name: str, table: Account, proxy: str | None, folder: Path) -> AccountCheck:
    kind, _, place = table.credential.partition(":")
    secure = table.base_url.startswith("https:")
    return AccountCheck(
        name=name,
        api=table.api,
        base_url=table.base_url,
        tls=secure,
        egress_proxy=proxy if secure else None,
        credential=table.credential if kind in {"env", "file", "none"} else "?",
        mode=_mode(folder / place) if kind == "file" and place else None,
        problem=None,
    )


def _mode(file: Path) -> str | None:
    try:
        return f"{stat.S_IMODE(file.lstat().st_mode):04o}"
    except OSError:
        return None


async def _with_key(
    check: AccountCheck,
    table: Account,
    folder: Path,
    environ: MutableMapping[str, str],
    egress: Egress | None,
) -> AccountCheck:
    field = f"profiles.{check.name.replace('/', '.accounts.', 1)}.credential"
    try:
        key = load_secret(table.credential, field=field, folder=folder, environ=environ)
    except RefusedError as error:
        return msgspec.structs.replace(check, problem=error.refusal)
    return check if egress is None else await _live(check, table, key, egress)


async def _live(
    check: AccountCheck, table: Account, key: Secret | None, egress: Egress
) -> AccountCheck:
    url = split_base_url(table.base_url, field="base_url", allow_plain_http=table.allow_plain_http)
    target = egress.target(url, key, table.api)
    request = question(table.api, target)
    reached = await ask(target, table.api)
    if isinstance(reached, str):
        live = Live(request=request, status=None, words=reached, key_proven=False)
        return msgspec.structs.replace(check, live=live, problem=unreachable(check, reached))
    problem = answer_problem(check, reached.status, reached.error, reached.request_id)
    live = Live(
        request=request,
        status=reached.status,
        words=answer_words(reached.status, reached.error, reached.models),
        key_proven=key is not None and reached.status < 300 and reached.models is not None,
        models=reached.models,
        request_id=reached.request_id,
        certificate_sha256=reached.certificate_sha256,
        duration_ms=reached.duration_ms,
    )
    return msgspec.structs.replace(check, live=live, problem=problem)
