"""Making the lock file of a new release: resolve once, download all, write down what came.

Asked for by a maintainer, never by a run. npm and pip resolve with the registries this machine
uses; what they chose becomes data that people review.
"""

import base64
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stanchion.images import tools, tree, wheels
from stanchion.images.errors import ImagesError, ToolFailedError
from stanchion.images.harness_store import archives, runtimes
from stanchion.images.harness_store.locks import Archive, Release, Runtime, Source
from stanchion.images.host import Architecture

NODE_PACKAGE = "node-linux-{npm}"
"""npm's package of the official Node program, linked against glibc."""
SITE_PACKAGES = f"{runtimes.PLACE}/lib/python3/dist-packages"
"""Where Debian's CPython looks without being told."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a maintainer asks to be locked."""

    program: str
    npm: tuple[str, ...] = ()
    """`PACKAGE@VERSION`; with `node` their dependencies come along."""
    node: str | None = None
    """Exact version of the Node they run on; None = the one package is a binary."""
    pypi: tuple[str, ...] = ()
    """`PACKAGE==VERSION`; their dependencies come along."""
    skip: frozenset[str] = frozenset()
    """Packages of the tree to leave out."""


def make(wish: Wish, architecture: Architecture) -> Release:
    """The release, all of whose archives have been seen."""
    if bool(wish.npm) == bool(wish.pypi):
        raise ImagesError("a release comes from npm or from PyPI: name packages of one of them")
    with TemporaryDirectory(prefix="stanchion-lock-") as folder:
        scratch = Path(folder)
        chosen = _chosen(wish, scratch, architecture)
        downloads, root = scratch / "downloads", scratch / "root"
        downloads.mkdir()
        root.mkdir()
        archives.download(chosen, downloads, architecture)
        files = archives.matching(chosen, downloads.iterdir())
        sized = [
            Archive(
                source=archive.source, package=archive.package, version=archive.version,
                integrity=archive.integrity, size_bytes=files[archive].stat().st_size,
                place=archive.place,
            )
            for archive in chosen
        ]  # fmt: skip
        for archive in chosen:
            unpack = archives.unpack if archive.source is Source.NPM else wheels.unpack
            unpack(files[archive], root / archive.place)
        program = root / wish.program
        if not program.is_file():
            raise ImagesError(f"these packages hold no {wish.program}; name the file to start")
        return Release(
            program=wish.program,
            program_sha256=tree.file_sha256(program),
            runtime=_runtime(wish),
            archives=tuple(sized),
        )


def _runtime(wish: Wish) -> Runtime | None:
    if wish.pypi:
        return Runtime.PYTHON
    return Runtime.NODE if wish.node else None


def _chosen(wish: Wish, scratch: Path, architecture: Architecture) -> list[Archive]:
    if wish.pypi:
        return pypi_tree(_pip_report(wish.pypi, scratch, architecture), wish.skip)
    if wish.node is None:
        return [_announced(wanted, "") for wanted in wish.npm]
    node = f"{NODE_PACKAGE.format(npm=architecture.npm)}@{wish.node}"
    document = _package_lock(wish.npm, scratch, architecture)
    return [
        _announced(node, runtimes.PLACE),
        *npm_tree(document, architecture, wish.skip),
    ]


def npm_tree(
    document: Mapping[str, Any], architecture: Architecture, skip: Iterable[str]
) -> list[Archive]:
    """The packages of a package-lock.json that belong on this processor family."""
    ours = {"os": "linux", "cpu": architecture.npm, "libc": "glibc"}
    found = []
    for place, entry in sorted(document["packages"].items()):
        package = entry.get("name") or place.rpartition("node_modules/")[2]
        allowed = all(_fits(entry.get(field), value) for field, value in ours.items())
        if not place or not allowed or package in set(skip):
            continue
        found.append(
            Archive(
                source=Source.NPM, package=package, version=entry["version"],
                integrity=entry["integrity"].split()[0], size_bytes=0, place=place,
            )
        )  # fmt: skip
    return found


def pypi_tree(report: Mapping[str, Any], skip: Iterable[str]) -> list[Archive]:
    """The wheels of pip's installation report."""
    found = []
    for item in report["install"]:
        package = item["metadata"]["name"]
        digest = bytes.fromhex(item["download_info"]["archive_info"]["hashes"]["sha256"])
        if package in set(skip):
            continue
        found.append(
            Archive(
                source=Source.PYPI, package=package, version=item["metadata"]["version"],
                integrity=f"sha256-{base64.b64encode(digest).decode()}", size_bytes=0,
                place=SITE_PACKAGES,
            )
        )  # fmt: skip
    return sorted(found, key=lambda archive: archive.package.lower())


def _fits(listed: Sequence[str] | None, value: str) -> bool:
    """For os, cpu and libc npm lists allowed words, or refused ones with `!`."""
    if not listed:
        return True
    if f"!{value}" in listed:
        return False
    return value in listed or all(word.startswith("!") for word in listed)


def _announced(wanted: str, place: str) -> Archive:
    printed = tools.run(["npm", "view", wanted, "dist.integrity", "--json"], doing="npm view")
    answer = json.loads(printed or "null")
    if not isinstance(answer, str):
        raise ToolFailedError(f"the npm registry this machine uses does not hold {wanted}")
    package, _, version = wanted.rpartition("@")
    return Archive(
        source=Source.NPM, package=package, version=version, integrity=answer, size_bytes=0,
        place=place,
    )  # fmt: skip


def _package_lock(
    wanted: Sequence[str], scratch: Path, architecture: Architecture
) -> dict[str, Any]:
    parts = [name.rpartition("@") for name in wanted]
    dependencies = {package: version for package, _, version in parts}
    (scratch / "package.json").write_text(json.dumps({"dependencies": dependencies}))
    tools.run(
        ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund",
         "--os=linux", f"--cpu={architecture.npm}", "--libc=glibc"],
        doing="npm install --package-lock-only", folder=scratch,
    )  # fmt: skip
    document: dict[str, Any] = json.loads((scratch / "package-lock.json").read_bytes())
    return document


def _pip_report(wanted: Sequence[str], scratch: Path, architecture: Architecture) -> dict[str, Any]:
    report = scratch / "report.json"
    tools.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-input", "--dry-run", "--ignore-installed", "--report", report,
         *wheels.target(architecture), "--target", scratch / "nowhere", *wanted],
        doing="pip install --dry-run",
    )  # fmt: skip
    document: dict[str, Any] = json.loads(report.read_bytes())
    return document
