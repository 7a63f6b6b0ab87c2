"""Texts that a harness's program carries inside itself, laid beside it as files.

A launch may have to point at one, as at the instructions that a program gives a model. It stays its
maker's and comes with the package; the lock says where it lies and what it must be. Nothing is run
to get at it.
"""

import hashlib
from pathlib import Path

from stanchion.images.errors import IntegrityError
from stanchion.images.harness_store.locks import Cut


def cut(root: Path, wanted: Cut) -> None:
    """Write one file out of pieces of another."""
    with (root / wanted.source).open("rb") as source:
        content = b""
        for offset, length in wanted.pieces:
            source.seek(offset)
            content += source.read(length)
    found = hashlib.sha256(content).hexdigest()
    if found != wanted.sha256:
        raise IntegrityError(
            f"the pieces of {wanted.source} for {wanted.place} have sha256 {found[:16]}… where "
            f"{wanted.sha256[:16]}… is pinned"
        )
    place = root / wanted.place
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as target:
        target.write(content)
    place.chmod(0o644)
