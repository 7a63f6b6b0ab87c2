"""Where an account's key file belongs, and how a key gets there whole or not at all.

Decides whether a key may be stored for an account: only where its credential is a file. It must
never show a key, nor leave one where anybody but its owner can read or replace it.
"""

import os
import secrets
import stat
from pathlib import Path

from stanchion.broker.config import REHEARSAL, Account, Config
from stanchion.broker.secrets import check_key
from stanchion.protocol.refusal import refuse

IGNORE_FILE = ".gitignore"


def account_of(config: Config, name: str) -> Account:
    """The account that `PROFILE/ACCOUNT` names."""
    profile, slash, account = name.partition("/")
    if not (profile and slash and account):
        raise refuse(
            "account_form",
            field="PROFILE/ACCOUNT",
            value=name,
            rule="it names a profile and one of its accounts, as evals/anthropic",
            remedy=f"Name one of {', '.join(names(config)) or 'those that you add'}",
        )
    if profile == REHEARSAL or profile not in config.profiles:
        raise refuse(
            "profile_unknown",
            field="PROFILE/ACCOUNT",
            value=name,
            rule=f"the profile is one of {', '.join(_profiles(config)) or 'none yet'}",
            remedy="Name one of them, or add it to stanchion.toml",
        )
    accounts = config.profiles[profile].accounts
    if account not in accounts:
        raise refuse(
            "account_missing",
            field="PROFILE/ACCOUNT",
            value=name,
            rule=f"profile {profile} has {', '.join(accounts) or 'no account'}",
            remedy=f"Name one of them, or add [profiles.{profile}.accounts.{account}]",
        )
    return accounts[account]


def names(config: Config) -> list[str]:
    """Every account that can have a key."""
    return [
        f"{profile}/{account}"
        for profile in _profiles(config)
        for account in config.profiles[profile].accounts
    ]


def _profiles(config: Config) -> list[str]:
    return sorted(name for name in config.profiles if name != REHEARSAL)


def key_file(config: Config, name: str, *, folder: Path) -> Path:
    """Where the key of an account is stored, relative to the configuration's folder."""
    credential = account_of(config, name).credential
    kind, _, rest = credential.partition(":")
    if kind == "file" and rest:
        return folder / rest
    flat = name.replace("/", "-")
    field = f"profiles.{name.replace('/', '.accounts.')}.credential"
    if kind == "env" and rest:
        raise refuse(
            "key_not_stored",
            field=field,
            value=credential,
            rule="`key set` writes key files only, and this key comes from the environment",
            remedy=f"Export {rest} where the broker starts, or write "
            f'credential = "file:keys/{flat}" there',
        )
    raise refuse(
        "key_not_stored",
        field=field,
        value="none" if credential == "none" else None,
        rule="`key set` writes key files only, and this account names none",
        remedy=f'Write credential = "file:keys/{flat}" there',
    )


def store_key(file: Path, text: str, *, field: str) -> None:
    """Write the key: mode 0600, in a folder of its owner's, in the place of what was there."""
    key = check_key(text, field=field)
    _prepare(file.parent)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            os.fchmod(descriptor, 0o600)
            opened.write(f"{key}\n".encode("ascii"))
            opened.flush()
            os.fsync(descriptor)
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _prepare(folder: Path) -> None:
    """The folder, made private where it is missing; a version control system never sees it."""
    if not folder.exists():
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        for place in reversed(missing):
            place.mkdir(mode=0o700)
        (folder / IGNORE_FILE).write_text("*\n", encoding="ascii")
    mode = folder.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        raise refuse(
            "key_folder_exposed",
            field="credential",
            value=folder,
            rule=f"only its owner may change the folder of a key file, not {stat.filemode(mode)}",
            remedy="Take the right to write from the others",
            next=f"chmod 700 {folder}",
        )
