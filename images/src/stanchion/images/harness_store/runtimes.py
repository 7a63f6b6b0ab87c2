"""What a harness that is a script is run by: Node or CPython with a C library of its own.

Everything lies in `runtime/` of the harness's folder and looks for libraries there only, so that it
runs in an image with another C library or with none. Node comes from its pinned archive, CPython
and all libraries from Debian's signed packages, as the supervisor's bundle does.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from stanchion.images import apt, elf, tools
from stanchion.images.errors import IntegrityError
from stanchion.images.harness_store.locks import Runtime
from stanchion.images.host import Architecture, require_debian

PLACE = "runtime"
SANDBOX_PLACE = "/opt/stanchion-harness"
PYTHON = "bin/python3.11"
STDLIB = "lib/python3.11"
C_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")
C_LIBRARIES = (
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
    "libstdc++.so.6",
)  # fmt: skip
UNUSED = {
    Runtime.NODE: ("include", "share"),
    # For people at a keyboard, for building, and modules whose libraries are left out.
    Runtime.PYTHON: tuple(f"{STDLIB}/{name}" for name in (
        "EXTERNALLY-MANAGED", "config-*", "sitecustomize.py", "ensurepip", "idlelib", "lib2to3",
        "test", "tkinter", "turtledemo", "lib-dynload/*test*", "lib-dynload/_crypt.*",
        "lib-dynload/_curses*", "lib-dynload/_dbm*", "lib-dynload/nis*",
        "lib-dynload/ossaudiodev*", "lib-dynload/readline*",
    )),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is taken of Debian for one runtime."""

    program: str
    """Below `runtime/`."""
    packages: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


RECIPES = {
    Runtime.NODE: Recipe(program="bin/node"),
    Runtime.PYTHON: Recipe(
        program=PYTHON,
        packages=(
            "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libffi8",
            "zlib1g", "libexpat1", "liblzma5", "libbz2-1.0", "libuuid1", "libsqlite3-0", "libssl3",
        ),
        libraries=(
            "libffi.so.8", "libz.so.1", "libexpat.so.1", "liblzma.so.5", "libbz2.so.1.0",
            "libuuid.so.1", "libsqlite3.so.0", "libssl.so.3", "libcrypto.so.3",
        ),
    ),
}  # fmt: skip


def complete(
    root: Path, runtime: Runtime, place: str, architecture: Architecture
) -> tuple[str, ...]:
    """Make the runtime in `root`, which will be seen at `place`; says which packages it took."""
    require_debian(f"the {runtime} that a harness runs on")
    recipe = RECIPES[runtime]
    packages = (*C_PACKAGES, *recipe.packages)
    debs = apt.candidates(packages)
    home = root / PLACE
    with TemporaryDirectory(prefix="stanchion-runtime-", dir=root.parent) as scratch:
        downloads, unpacked = Path(scratch, "downloads"), Path(scratch, "unpacked")
        downloads.mkdir()
        unpacked.mkdir()
        for package in apt.download(packages, debs, downloads):
            tools.run(["dpkg-deb", "-x", package, unpacked], doing=f"unpacking {package.name}")
        if runtime is Runtime.PYTHON:
            _take_python(unpacked, home)
        _take_libraries(unpacked, home / "lib", recipe, architecture)
    for pattern in UNUSED[runtime]:
        for path in home.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _tie(home, recipe, f"{place}/{PLACE}", architecture)
    if runtime is Runtime.PYTHON:
        _compile(root, place, architecture)
    return tuple(deb.file_name for deb in debs)


def on_host(root: Path, runtime: Runtime, architecture: Architecture) -> list[str]:
    """How to start the runtime where it does not lie at its final place."""
    library_folder = root / PLACE / "lib"
    loader = library_folder / architecture.loader
    program = root / PLACE / RECIPES[runtime].program
    return [str(loader), "--library-path", str(library_folder), str(program)]


def _take_python(unpacked: Path, home: Path) -> None:
    (home / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy2(unpacked / "usr" / PYTHON, home / PYTHON)
    shutil.copytree(
        unpacked / "usr" / STDLIB, home / STDLIB, symlinks=False, dirs_exist_ok=True,
        ignore_dangling_symlinks=True,
    )  # fmt: skip


def _take_libraries(
    unpacked: Path, target: Path, recipe: Recipe, architecture: Architecture
) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in (*C_LIBRARIES, *recipe.libraries, architecture.loader):
        found = [path for path in unpacked.rglob(name) if architecture.triplet in path.parts]
        if not found:
            raise IntegrityError(f"Debian's packages no longer hold {name}, which is needed")
        shutil.copyfile(found[0], target / name)
        (target / name).chmod(0o755)


def _tie(home: Path, recipe: Recipe, place: str, architecture: Architecture) -> None:
    elf.blind_loader(home / "lib" / architecture.loader, architecture.triplet)
    elf.blind_libc(home / "lib/libc.so.6", architecture.triplet)
    program = home / recipe.program
    if not program.is_file():
        raise IntegrityError(f"the pinned archives bring no {PLACE}/{recipe.program}")
    elf.set_interpreter(
        program, loader=f"{place}/lib/{architecture.loader}", library_path="$ORIGIN/../lib"
    )
    needs = {program.name: elf.needed(program)}
    open_needs = elf.open_needs(needs, (path.name for path in (home / "lib").iterdir()))
    if open_needs:
        raise IntegrityError("it would use libraries of the image: " + "; ".join(open_needs))


def _compile(root: Path, place: str, architecture: Architecture) -> None:
    command: Sequence[str] = [
        *on_host(root, Runtime.PYTHON, architecture), "-I", "-S", "-B", "-m", "compileall", "-q",
        "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", place,
        str(root / PLACE / "lib"),
    ]  # fmt: skip
    tools.run(command, doing="compiling the harness's modules")
