"""The Python packages of the bundle, exactly as pinned in `bundle.lock`.

pip downloads them with hash checking; they are unpacked here, because a wheel is a zip archive and
installing would run code of this machine's interpreter. Scripts and headers are left out.
"""

import re
import stat
import sys
import zipfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

from stanchion.images import tools
from stanchion.images.errors import IntegrityError, MissingToolError
from stanchion.images.host import Architecture

LOCK_NAME = "bundle.lock"
PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")


@dataclass(frozen=True, slots=True)
class Pin:
    """One requirement of the lock file."""

    name: str
    version: str


def lock_text() -> str:
    """The lock file this version ships."""
    return resources.files("stanchion.images").joinpath(LOCK_NAME).read_text(encoding="utf-8")


def pins(lock: str) -> list[Pin]:
    """The requirements of a lock file, without their hashes."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s\\]+)", lock, flags=re.MULTILINE)
    return [Pin(name, version) for name, version in found]


def download(lock: str, architecture: Architecture, folder: Path) -> list[Path]:
    """Download the pinned wheels for one architecture; pip refuses any other hash."""
    requirements = folder / LOCK_NAME
    requirements.write_text(lock, encoding="utf-8")
    _require_pip()
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-input", "--require-hashes", "--no-deps", *target(architecture),
        "--dest", str(folder), "--requirement", str(requirements),
    ]  # fmt: skip
    tools.run(command, doing="pip")
    wheels = sorted(folder.glob("*.whl"))
    expected = len(pins(lock))
    if len(wheels) != expected:
        raise IntegrityError(f"pip downloaded {len(wheels)} wheels where {expected} are pinned")
    return wheels


def target(architecture: Architecture) -> list[str]:
    """Options of pip for CPython 3.11 on Debian's glibc, whatever pip itself runs on."""
    return [
        "--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp",
        "--abi", "cp311", "--abi", "abi3", "--abi", "none",
        *(f"--platform={platform}_{architecture.machine}" for platform in PLATFORMS),
    ]  # fmt: skip


def unpack(wheel: Path, site_packages: Path) -> None:
    """Put a wheel's modules into place."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            if member.is_dir() or path.parts[0].endswith(".data"):
                continue
            if path.is_absolute() or ".." in path.parts:
                raise IntegrityError(f"{wheel.name} holds the path {path}, which leaves the wheel")
            target = site_packages / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
            executable = (member.external_attr >> 16) & stat.S_IXUSR
            target.chmod(0o755 if executable else 0o644)


def _require_pip() -> None:
    from importlib.util import find_spec

    if find_spec("pip") is None:
        fix = f"{sys.executable} -m ensurepip"
        raise MissingToolError(
            f"the bundle's packages are fetched by pip, which {sys.executable} does not have; "
            f"run `{fix}`",
            fix=fix,
        )
