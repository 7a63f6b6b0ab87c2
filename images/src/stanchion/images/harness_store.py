"""Coding-agent harnesses, fetched by exact version and held to what is pinned.

npm fetches; `harness.lock.json` decides. A registry that announces or delivers other bytes than the
pinned ones is refused, and no script of a package is ever run.
"""

import base64
import json
import tarfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

import msgspec

from stanchion.images import entry, manifest, tools, tree
from stanchion.images.errors import ImagesError, IntegrityError, ToolFailedError
from stanchion.images.host import architecture
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

LOCK_NAME = "harness.lock.json"
BUILT_IN = {"noop": ("1",), "oracle": ("1",)}
"""Harnesses that are no program of anybody: their packages hold a manifest and nothing else."""


class PinnedPackage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One harness release for one processor family."""

    package: str
    integrity: str
    """Subresource integrity of the package file, as the npm registry writes it."""
    size_bytes: int
    binary: str
    """Path of the program inside the package."""
    binary_sha256: str


Lock = dict[str, dict[str, dict[str, PinnedPackage]]]
"""Harness name -> version -> npm's name of the processor family."""


@dataclass(frozen=True, slots=True)
class HarnessPackage:
    """A harness on disk, ready to be bound read-only."""

    path: Path
    digest: str
    """sha256 of its manifest.json."""
    name: str
    version: str
    binary_relpath: str
    size_bytes: int
    cached: bool


def lock() -> Lock:
    """Every release this version of Stanchion knows."""
    content = resources.files("stanchion.images").joinpath(LOCK_NAME).read_bytes()
    return msgspec.json.decode(content, type=Lock)


def pinned(known: Lock, name: str, version: str, processor: str) -> PinnedPackage:
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


def ensure_harness(
    cache_dir: Path,
    name: str,
    version: str,
    progress: Report = ignore,
    *,
    known: Lock | None = None,
) -> HarnessPackage:
    """Return the pinned harness release, fetching it where it is missing."""
    if name in BUILT_IN:
        return _built_in(cache_dir, name, version)
    release = pinned(lock() if known is None else known, name, version, architecture().npm)

    def build(root: Path) -> entry.Built:
        message = f"{name} {version} ({release.package})"
        progress(Progress(Piece.HARNESS, Stage.WILL_DOWNLOAD, message, release.size_bytes))
        _fetch(release, version, root)
        progress(Progress(Piece.HARNESS, Stage.VERIFYING, message))
        _check_binary(root, release)
        return entry.Built(
            digest=manifest.seal(root, name, version), notes={"integrity": release.integrity}
        )

    found = entry.ensure(cache_dir / "harness" / name / version, build)
    if found.notes.get("integrity") != release.integrity:
        fix = f"rm -r {found.path.parent}"
        raise IntegrityError(
            f"the stored {name} {version} came from another package file than the pinned one; "
            f"remove it with `{fix}` and run the command again",
            fix=fix,
        )
    stage = Stage.CACHED if found.cached else Stage.DONE
    progress(Progress(Piece.HARNESS, stage, f"{name} {version}", found.size_bytes))
    return HarnessPackage(
        path=found.path,
        digest=found.digest,
        name=name,
        version=version,
        binary_relpath=release.binary,
        size_bytes=found.size_bytes,
        cached=found.cached,
    )


def has_harness(cache_dir: Path, name: str, version: str) -> bool:
    """Whether the release can be had without downloading anything."""
    return name in BUILT_IN or (cache_dir / "harness" / name / version / "record.json").is_file()


def _built_in(cache_dir: Path, name: str, version: str) -> HarnessPackage:
    """An empty package, so that a launch of it is named by a digest like any other."""
    if version not in BUILT_IN[name]:
        raise ImagesError(f"{name} has version {', '.join(BUILT_IN[name])}, and no {version}")

    def build(root: Path) -> entry.Built:
        return entry.Built(digest=manifest.seal(root, name, version))

    found = entry.ensure(cache_dir / "harness" / name / version, build)
    return HarnessPackage(
        path=found.path,
        digest=found.digest,
        name=name,
        version=version,
        binary_relpath="",
        size_bytes=found.size_bytes,
        cached=found.cached,
    )


def check_integrity(package_file: Path, integrity: str) -> None:
    """Refuse a package file whose digest is not the pinned one."""
    algorithm, _, expected = integrity.partition("-")
    actual = base64.b64encode(tree.file_digest(package_file, algorithm)).decode()
    if actual != expected:
        raise IntegrityError(
            f"{package_file.name} has {algorithm} {actual[:16]}… where {expected[:16]}… is "
            "pinned; it was not unpacked. Ask who runs the npm registry this machine uses"
        )


def unpack(package_file: Path, target: Path) -> None:
    """Unpack the regular files of an npm package; anything else in it is refused."""
    with tarfile.open(package_file, "r:gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            inside = path.parts[1:]
            if member.isdir():
                continue
            if not member.isfile() or path.is_absolute() or ".." in path.parts or not inside:
                raise IntegrityError(
                    f"{package_file.name} holds {member.name}, which is not a plain file below "
                    "one folder; it was not unpacked"
                )
            place = target.joinpath(*inside)
            place.parent.mkdir(parents=True, exist_ok=True)
            source = archive.extractfile(member)
            assert source is not None
            _copy(source, place)
            place.chmod(0o755 if member.mode & 0o100 else 0o644)


def _fetch(release: PinnedPackage, version: str, root: Path) -> None:
    wanted = f"{release.package}@{version}"
    announced = _announced_integrity(wanted)
    if announced != release.integrity:
        raise IntegrityError(
            f"the npm registry announces {wanted} with {announced[:24]}… where "
            f"{release.integrity[:24]}… is pinned; nothing was downloaded. Ask who runs the npm "
            "registry this machine uses"
        )
    with TemporaryDirectory(prefix="stanchion-npm-", dir=root.parent) as scratch:
        command = ["npm", "pack", wanted, "--ignore-scripts", "--silent"]
        tools.run([*command, "--pack-destination", scratch], doing="npm pack", folder=Path(scratch))
        files = sorted(Path(scratch).glob("*.tgz"))
        if len(files) != 1:
            raise ToolFailedError(f"npm pack {wanted} left {len(files)} package files, not one")
        check_integrity(files[0], release.integrity)
        unpack(files[0], root)


def _announced_integrity(wanted: str) -> str:
    printed = tools.run(["npm", "view", wanted, "dist.integrity", "--json"], doing="npm view")
    answer = json.loads(printed or "null")
    if not isinstance(answer, str):
        raise ToolFailedError(f"the npm registry this machine uses does not hold {wanted}")
    return answer


def _check_binary(root: Path, release: PinnedPackage) -> None:
    binary = root / release.binary
    actual = tree.file_sha256(binary) if binary.is_file() else "nothing"
    if actual != release.binary_sha256:
        raise IntegrityError(
            f"{release.package} holds {release.binary} with sha256 {actual[:16]}… where "
            f"{release.binary_sha256[:16]}… is pinned"
        )


def _copy(source: IO[bytes], place: Path) -> None:
    with place.open("wb") as target:
        while chunk := source.read(1 << 20):
            target.write(chunk)
