"""Reads what the launcher left in the attempt directory, before anything of the agent exists.

Never guesses: a launch that is not the canonical bytes of a FrozenLaunch ends the supervisor.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from stanchion.protocol.codec import CodecError, decode, encode
from stanchion.protocol.launch import FrozenLaunch
from stanchion.supervisor.paths import Paths


class UnreadableLaunchError(Exception):
    """The attempt directory does not say what to do."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The terms of the attempt."""

    frozen: FrozenLaunch
    sha256: str
    token: str = field(repr=False)
    """The single-use enrol token."""
    instruction: str
    instruction_sha256: str


@dataclass(frozen=True, slots=True)
class PackageSeen:
    """The harness package as it is mounted."""

    manifest_sha256: str | None
    name: str | None = None
    version: str | None = None
    wrong_sizes: tuple[str, ...] = ()
    """Listed files that are missing or have another size."""


class _File(msgspec.Struct, frozen=True):
    size_bytes: int


class _Manifest(msgspec.Struct, frozen=True):
    name: str
    version: str
    files: dict[str, _File]


def load(paths: Paths) -> Launch:
    """The launch in the attempt directory."""
    try:
        raw = paths.launch_file.read_bytes()
        token = paths.token_file.read_text("ascii").strip()
        instruction = paths.instruction_file.read_bytes()
        frozen = decode(raw, FrozenLaunch)
        if encode(frozen) != raw:
            raise UnreadableLaunchError(
                f"{paths.launch_file} is not in canonical form, so its digest names nothing; "
                "launcher and supervisor bundle must be of the same version"
            )
        return Launch(
            frozen=frozen,
            sha256=hashlib.sha256(raw).hexdigest(),
            token=token,
            instruction=instruction.decode(),
            instruction_sha256=hashlib.sha256(instruction).hexdigest(),
        )
    except (OSError, CodecError, UnicodeDecodeError) as error:
        raise UnreadableLaunchError(f"cannot read the launch: {error}") from error


def look_at_package(package: Path) -> PackageSeen:
    """Digest and sizes; the harness is never run to ask."""
    try:
        raw = (package / "manifest.json").read_bytes()
    except OSError:
        return PackageSeen(manifest_sha256=None)
    sha256 = hashlib.sha256(raw).hexdigest()
    try:
        manifest = decode(raw, _Manifest)
    except CodecError:
        return PackageSeen(manifest_sha256=sha256)
    wrong = [
        inside
        for inside, file in manifest.files.items()
        if _size(package / inside) != file.size_bytes
    ]
    return PackageSeen(
        manifest_sha256=sha256,
        name=manifest.name,
        version=manifest.version,
        wrong_sizes=tuple(sorted(wrong)),
    )


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None
