"""The part of the supervisor bundle that is ours: three packages and two files to start them.

The packages are found where this interpreter finds them (an editable install or a wheel), are never
imported here, and are copied as they are, so that the digest names exactly what runs.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from stanchion.images import tree
from stanchion.images.errors import ImagesError

PACKAGES = ("stanchion.protocol", "stanchion.harness_adapters", "stanchion.supervisor")
ENTRY = "start.py"
PACKED = "packed.py"


def locate(package: str) -> Path:
    """The folder of an installed package."""
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise ImagesError(
            f"the package {package} is not installed beside stanchion.images; "
            "run `pip install --force-reinstall stanchion`",
            fix="pip install --force-reinstall stanchion",
        )
    return Path(places[0])


def files(packages: Sequence[str] = PACKAGES) -> Iterator[tuple[str, Path]]:
    """Every file of the code layer: its path below `app/` and where it is now."""
    for package in packages:
        folder = locate(package)
        for source in sorted(folder.rglob("*")):
            inside = source.relative_to(folder)
            if source.is_file() and "__pycache__" not in inside.parts:
                yield f"{package.replace('.', '/')}/{inside.as_posix()}", source
    for name in (ENTRY, PACKED):
        with resources.as_file(resources.files("stanchion.images").joinpath(name)) as file:
            yield name, file


def digest(packages: Sequence[str] = PACKAGES) -> str:
    """Equal code gives an equal digest, wherever it is installed."""
    total = hashlib.sha256()
    for inside, source in files(packages):
        _add(total, inside, source)
    return total.hexdigest()


def copy(target: Path, expected: str, packages: Sequence[str] = PACKAGES) -> None:
    """Put the code layer into place, without owners, times or odd modes.

    Code that is being edited right now may differ from the digest it was announced with.
    """
    copied = hashlib.sha256()
    for inside, source in files(packages):
        place = target / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        place.chmod(0o644)
        _add(copied, inside, place)
    if copied.hexdigest() != expected:
        raise ImagesError("Stanchion's own code changed while it was copied; run the command again")


def _add(total: "hashlib._Hash", inside: str, path: Path) -> None:
    total.update(f"{inside}\0{tree.file_sha256(path)}\n".encode())
