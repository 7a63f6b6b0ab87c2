"""Which bytes a harness release is: one data file a release, `harness_locks/NAME/VERSION.json`.

A release is a list of archives, each with its digest, and the one file that is started. A file
that is not here is a release that is never fetched; nothing here asks a registry.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

from stanchion.images.errors import ImagesError

FOLDER = "harness_locks"
SUFFIX = ".json"


class Source(StrEnum):
    """Which registry an archive comes from; which host that is, the machine's settings say."""

    NPM = "npm"
    PYPI = "pypi"


class Runtime(StrEnum):
    """What runs the program, where it is not itself one."""

    NODE = "node"
    """A pinned Node, with a loader and a C library of its own."""
    PYTHON = "python"
    """CPython 3.11, the same."""


class Archive(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One package file of a registry."""

    source: Source
    package: str
    version: str
    integrity: str
    """Subresource integrity, as `sha512-BASE64`."""
    size_bytes: int
    place: str = ""
    """Below the harness's folder, where its files go."""

    @property
    def wanted(self) -> str:
        """As npm names it."""
        return f"{self.package}@{self.version}"


class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file to be made of pieces of another one."""

    place: str
    """Below the harness's folder."""
    source: str
    """The file that holds the pieces, below the harness's folder."""
    pieces: tuple[tuple[int, int], ...]
    """Offset and length in bytes of each, in the order of the file."""
    sha256: str
    """Of the file."""


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One harness release for one processor family."""

    program: str
    """The file that is started, below the harness's folder: a binary or a script."""
    program_sha256: str
    runtime: Runtime | None = None
    archives: tuple[Archive, ...]
    cuts: tuple[Cut, ...] = ()

    @property
    def size_bytes(self) -> int:
        """What is downloaded."""
        return sum(archive.size_bytes for archive in self.archives)

    @property
    def pin(self) -> str:
        """Changes whenever other bytes are pinned."""
        if len(self.archives) == 1 and self.runtime is None and not self.cuts:
            return self.archives[0].integrity
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


Lock = Mapping[str, Mapping[str, Mapping[str, Release]]]
"""Harness name -> version -> npm's name of the processor family."""


def lock() -> Lock:
    """Every release this version of Stanchion knows."""
    folder = resources.files("stanchion.images").joinpath(FOLDER)
    return {
        harness.name: _versions(harness)
        for harness in sorted(folder.iterdir(), key=lambda path: path.name)
    }


def _versions(folder: Traversable) -> dict[str, dict[str, Release]]:
    files = sorted(folder.iterdir(), key=lambda path: path.name)
    return {
        file.name.removesuffix(SUFFIX): decode(file.read_bytes())
        for file in files
        if file.name.endswith(SUFFIX)
    }


def decode(content: bytes) -> dict[str, Release]:
    """One lock file."""
    return msgspec.json.decode(content, type=dict[str, Release])


def encode(releases: Mapping[str, Release]) -> bytes:
    """One lock file's bytes, one line an archive, as people read and compare them."""
    lines = ",\n".join(_lines(releases))
    return f"{{\n{lines}\n}}\n".encode()


def _lines(releases: Mapping[str, Release]) -> Iterator[str]:
    for processor, release in sorted(releases.items()):
        fields = [("program", release.program), ("program_sha256", release.program_sha256)]
        if release.runtime is not None:
            fields.append(("runtime", release.runtime))
        head = "".join(f"  {_text(key)}: {_text(value)},\n" for key, value in fields)
        lists = [("archives", release.archives), ("cuts", release.cuts)]
        body = ",\n".join(_list(name, items) for name, items in lists if items)
        yield f" {_text(processor)}: {{\n{head}{body}\n }}"


def _list(name: str, items: Sequence[msgspec.Struct]) -> str:
    lines = ",\n".join(f"   {_text(item)}" for item in items)
    return f'  "{name}": [\n{lines}\n  ]'


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def pinned(known: Lock, name: str, version: str, processor: str) -> Release:
    """The pin of one release, or a refusal that lists what there is."""
    if name not in known:
        raise ImagesError(
            f'no harness "{name}" is pinned; the pinned ones are {", ".join(sorted(known))}'
        )
    versions = known[name]
    if version not in versions:
        raise ImagesError(
            f'{name} "{version}" is not pinned, and an unpinned harness is never fetched; '
            f"pinned versions: {', '.join(sorted(versions))}"
        )
    if processor not in versions[version]:
        raise ImagesError(
            f"{name} {version} is pinned for {', '.join(sorted(versions[version]))}, not for "
            f"this machine's processor family ({processor})"
        )
    return versions[version][processor]
