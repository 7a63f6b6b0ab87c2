"""The broker's own keys: one to sign receipts, one to name provider keys without showing them.

Made on first use, readable by their owner only, and refused where anybody else could read them or
where they are a link. It must never replace a key: receipts signed by a lost key stay receipts of
that key.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from stanchion.broker.receipts.ed25519 import is_public_key

PRIVATE_FILE = "signing.key"
PUBLIC_FILE = "signing.pub"
INSTALL_FILE = "install.key"

_SECRET = re.compile(rb"[0-9a-f]{64}\n\Z")


class KeyFileError(Exception):
    """A key file that cannot be used; the sentence names the file, the rule and the remedy."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Both keys, loaded. Its repr shows the public half alone."""

    public_key: str
    _private: Ed25519PrivateKey = field(repr=False)
    _install: bytes = field(repr=False)

    def sign(self, message: bytes) -> str:
        """The signature of a message, 128 hex digits."""
        return self._private.sign(message).hex()

    def fingerprint(self, secret: str) -> str:
        """HMAC-SHA256 of a provider key: equal keys show as equal, on this installation only."""
        return hmac.new(self._install, secret.encode(), hashlib.sha256).hexdigest()


def load_or_create_keys(folder: Path) -> Keys:
    """The keys in the folder, made where there are none yet."""
    private_file, public_file = folder / PRIVATE_FILE, folder / PUBLIC_FILE
    if public_file.exists() and not private_file.exists():
        raise KeyFileError(
            f"{private_file} is missing although {public_file} exists: put the private key back, "
            f"or move the public key away to start with a new pair"
        )
    private = Ed25519PrivateKey.from_private_bytes(_secret(private_file))
    public_key = private.public_key().public_bytes_raw().hex()
    if not public_file.exists():
        _create(public_file, f"{public_key}\n".encode(), mode=0o644)
    elif read_public_key(public_file) != public_key:
        raise KeyFileError(
            f"{public_file} does not belong to {private_file}: put the matching file back"
        )
    return Keys(public_key, private, _secret(folder / INSTALL_FILE))


def read_public_key(file: Path) -> str:
    """The public key in a file: 64 hex digits and a line end."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"{file} cannot be read as a public key: {error}") from error
    if not is_public_key(text):
        raise KeyFileError(
            f"{file} holds no public key: 64 lower-case hex digits are required; "
            f"take the file {PUBLIC_FILE} of the broker that signed"
        )
    return text


def _secret(file: Path) -> bytes:
    """The 32 bytes in a private file, made at random where there is no such file."""
    if not os.path.lexists(file):
        _create(file, f"{secrets.token_hex(32)}\n".encode(), mode=0o600)
    text = _read_private(file)
    if not _SECRET.match(text):
        raise KeyFileError(f"{file} holds no key: 64 hex digits and a line end are required")
    return bytes.fromhex(text.decode("ascii"))


def _read_private(file: Path) -> bytes:
    try:
        # O_NONBLOCK: a pipe in its place is refused below, not waited for.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise KeyFileError(
            f"{file} cannot be read ({error.strerror}): it must be a plain file, not a link"
        ) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise KeyFileError(f"{file} is not a plain file: put the key itself there")
        if status.st_mode & 0o077:
            raise KeyFileError(
                f"{file} has mode {stat.S_IMODE(status.st_mode):04o}: nobody but its owner may "
                f"read a private key; chmod 600 it"
            )
        if status.st_uid not in {os.geteuid(), 0}:
            raise KeyFileError(f"{file} belongs to user {status.st_uid}: chown it to the broker's")
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def _create(file: Path, content: bytes, *, mode: int) -> None:
    """Write a new file whole or not at all; it never replaces one."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.link(draft, file)
    finally:
        draft.unlink()
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
