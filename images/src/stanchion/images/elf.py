"""Making shared objects independent of the image they will run in.

Every object names the bundle's own loader and library folder by RPATH (which wins over the image's
LD_LIBRARY_PATH; RUNPATH would not), and the loader forgets the two system files that could bring a
foreign library in. `open_needs` then proves that no library is looked for outside.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from stanchion.images import tools
from stanchion.images.errors import IntegrityError

MAGIC = b"\x7fELF"
# Same or shorter length, and impossible to exist: /dev/null is no folder.
LOADER_FILES = {
    b"/etc/ld.so.preload\0": b"/dev/null/preload\0",
    b"/etc/ld.so.cache\0": b"/dev/null/cache\0",
}


def is_elf(path: Path) -> bool:
    """Whether a file is an executable or a shared object."""
    with path.open("rb") as source:
        return source.read(4) == MAGIC


def objects(root: Path) -> list[Path]:
    """Every ELF file below a folder."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if is_elf(path)]


def set_interpreter(program: Path, *, loader: str, library_path: str) -> None:
    """Tie a program to a loader at a fixed absolute path and to a library folder."""
    tools.run(
        ["patchelf", "--set-interpreter", loader, "--force-rpath", "--set-rpath", library_path,
         program],
        doing=f"patchelf on {program.name}",
    )  # fmt: skip


def set_rpath(library: Path, library_path: str) -> None:
    """Tie a library to a library folder."""
    tools.run(
        ["patchelf", "--force-rpath", "--set-rpath", library_path, library],
        doing=f"patchelf on {library.name}",
    )


def needed(path: Path) -> list[str]:
    """The libraries an object asks the loader for."""
    return tools.run(["patchelf", "--print-needed", path], doing="patchelf").split()


def open_needs(needs: Mapping[str, Iterable[str]], provided: Iterable[str]) -> list[str]:
    """Sentences on every library that would be looked for outside the bundle."""
    inside = set(provided)
    return [
        f"{name} needs {library}"
        for name, libraries in sorted(needs.items())
        for library in libraries
        if library not in inside
    ]


def check_closure(root: Path, library_folder: Path) -> None:
    """Refuse a tree in which any object needs a library that the tree does not hold."""
    needs = {str(path.relative_to(root)): needed(path) for path in objects(root)}
    missing = open_needs(needs, (path.name for path in library_folder.iterdir()))
    if missing:
        raise IntegrityError(
            "the bundle would use libraries of the image it runs in: " + "; ".join(missing)
        )


def blind_loader(loader: Path) -> None:
    """Make the loader ignore the image's library cache and its list of libraries to preload."""
    code = loader.read_bytes()
    for name, replacement in LOADER_FILES.items():
        if code.count(name) != 1:
            raise IntegrityError(
                f"the loader {loader.name} names {name[:-1].decode()} {code.count(name)} times "
                "where one is expected, so it cannot be made independent of the image"
            )
        code = code.replace(name, replacement.ljust(len(name), b"\0"))
    loader.write_bytes(code)
