"""Provider keys: where they come from, and a type that cannot be printed by accident.

A key is read once, when the broker starts. Only `target` reveals one. A key file that others can
read, or that is a symbolic link, is refused.
"""

import hmac
import os
import re
import stat
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Final

from stanchion.broker.plane.spellings import LEAST, Spellings
from stanchion.protocol.credentials import EnvProof, proof_of
from stanchion.protocol.refusal import refuse

_PRINTABLE = re.compile(r"[\x21-\x7e]{1,4096}\Z")
MAX_FILE_BYTES: Final = 8192


class Secret:
    """A key. Its text forms are redacted; pickling and comparing it are refused."""

    __slots__ = ("_spellings", "_value")

    def __init__(self, value: str) -> None:
        self._value = value
        self._spellings = Spellings(value) if len(value) >= LEAST else None

    def reveal(self) -> str:
        """The key itself; for the head of an upstream request only."""
        return self._value

    @property
    def spellings(self) -> Spellings | None:
        """What it is looked for by; None = it is so short that it would match ordinary words."""
        return self._spellings

    def mask_text(self, text: str) -> str:
        """`text` with every occurrence of the key, however spelled, as `*` of equal length."""
        return text if self._spellings is None else self._spellings.masked_text(text)

    def proven_by(self, proof: EnvProof) -> bool:
        """Whether the caller holds this very key."""
        return hmac.compare_digest(proof.proof.encode(), proof_of(proof.salt, self._value).encode())

    def fingerprint(self, keyed_hash: Callable[[str], str]) -> str:
        """What may be shown of the key: a hash under a key of this installation."""
        return keyed_hash(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a Secret is never pickled")


def check_key(text: str, *, field: str) -> str:
    """The key without its line end, or a refusal that does not show it."""
    key = text.removesuffix("\n").removesuffix("\r")
    if not _PRINTABLE.match(key):
        raise refuse(
            "credential_malformed",
            field=field,
            value=None,
            rule="a key is 1 to 4096 printable ASCII characters without spaces",
            remedy="Store the key again, alone on one line",
        )
    return key


def load_secret(
    credential: str, *, field: str, folder: Path, environ: MutableMapping[str, str]
) -> Secret | None:
    """The key that `env:NAME`, `file:PATH` (relative to `folder`) or `none` stands for."""
    kind, _, rest = credential.partition(":")
    if credential == "none":
        return None
    if kind == "env" and rest:
        return Secret(check_key(_from_environment(rest, field, environ), field=field))
    if kind == "file" and rest:
        return Secret(check_key(_from_file(folder / rest, field), field=field))
    raise refuse(
        "credential_unknown",
        field=field,
        value=None,
        rule="a credential is env:NAME, file:PATH or none",
        remedy="Name the place of the key, never the key itself",
    )


def _from_environment(name: str, field: str, environ: MutableMapping[str, str]) -> str:
    value = environ.get(name)
    if not value:
        raise refuse(
            "credential_missing",
            field=field,
            value=f"env:{name}",
            rule="the environment variable is set when the broker starts",
            remedy=f"Export {name} and start the broker again",
        )
    return value


def _from_file(path: Path, field: str) -> str:
    remedy = f"Write the key to {path} with mode 0600"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise refuse(
            "credential_missing",
            field=field,
            value=f"file:{path}",
            rule=f"the key file can be opened and is no symbolic link ({error.strerror})",
            remedy=remedy,
        ) from None
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise refuse(
                "credential_exposed",
                field=field,
                value=f"file:{path}",
                rule=f"the key file is a regular file that only its owner can read, "
                f"not {stat.filemode(mode)}",
                remedy=f"chmod 600 {path}",
            )
        return os.read(handle, MAX_FILE_BYTES).decode("utf-8", errors="replace")
    finally:
        os.close(handle)
