"""The list of files that travels inside a piece, so that anyone holding it can check it.

Canonical JSON: the same files give the same bytes, and the sha256 of these bytes is the piece's
public digest. A tree with links or devices has no manifest.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from stanchion.images import tree
from stanchion.images.errors import IntegrityError

NAME = "manifest.json"


class File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a piece."""

    sha256: str
    size_bytes: int
    mode: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a piece is and holds."""

    name: str
    version: str
    files: dict[str, File]


def describe(name: str, version: str, content: Iterable[tree.Item]) -> Manifest:
    """The manifest of a tree's content."""
    described: dict[str, File] = {}
    for item in content:
        if item.kind is tree.Kind.FILE:
            described[item.path] = File(
                sha256=item.content, size_bytes=item.size_bytes, mode=item.mode
            )
        elif item.kind is not tree.Kind.FOLDER:
            raise IntegrityError(
                f"{name} holds {item.path}, a {item.kind}; only files may be in it"
            )
    return Manifest(name=name, version=version, files=described)


def encode(manifest: Manifest) -> bytes:
    """The bytes that are written and hashed."""
    return msgspec.json.encode(manifest, order="sorted") + b"\n"


def decode(content: bytes) -> Manifest:
    """Read a manifest back."""
    return msgspec.json.decode(content, type=Manifest)


def seal(root: Path, name: str, version: str) -> str:
    """Write the manifest of a finished tree into it and return the piece's digest."""
    content = encode(describe(name, version, tree.items(root)))
    (root / NAME).write_bytes(content)
    (root / NAME).chmod(0o644)
    return digest_of(content)


def digest_of(content: bytes) -> str:
    """The digest of a piece with this manifest."""
    return hashlib.sha256(content).hexdigest()
