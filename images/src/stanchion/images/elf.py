"""Making shared objects independent of the image they will run in.

The interpreter names the bundle's own loader and library folder by RPATH (which wins over the
image's LD_LIBRARY_PATH; RUNPATH would not), loader and libc forget the places of the image from
which they would bring in foreign code, and `check_closure` proves that nothing there is needed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from stanchion.images import tools
from stanchion.images.errors import IntegrityError

MAGIC = b"\x7fELF"
NOWHERE = b"/dev/null/"
"""Nothing can lie below /dev/null, in no image."""
LOADER_FILES = ("/etc/ld.so.preload", "/etc/ld.so.cache")
LIBC_FILES = (
    "/etc/nsswitch.conf",  # names libraries to load for looking up users and hosts
    "/usr/lib/{triplet}/gconv",
    "/usr/lib/{triplet}/gconv/gconv-modules.cache",
    "/usr/lib/locale",
    "/usr/lib/locale/locale-archive",
)
# The two short ones have no room for NOWHERE; sysfs is the kernel's in every sandbox, and a
# library can be created in it by nobody.
SYSTEM_FOLDERS = {
    "/lib/{triplet}/": None,
    "/usr/lib/{triplet}/": None,
    "/lib/": b"/sys/",
    "/usr/lib/": b"/sys/sys/",
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


def rpath(path: Path) -> str:
    """Where an object itself says that its libraries are; mostly nowhere."""
    return tools.run(["patchelf", "--print-rpath", path], doing="patchelf").strip()


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
    found = objects(root)
    for path in found:
        # RUNPATH would switch off the interpreter's RPATH; a library's own RPATH could leave.
        if path.parent != root / "bin" and (other := rpath(path)):
            raise IntegrityError(f"{path.relative_to(root)} looks for libraries in {other}")
    needs = {str(path.relative_to(root)): needed(path) for path in found}
    missing = open_needs(needs, (path.name for path in library_folder.iterdir()))
    if missing:
        raise IntegrityError(
            "the bundle would use libraries of the image it runs in: " + "; ".join(missing)
        )


def blind_loader(loader: Path, triplet: str) -> None:
    """Make the loader search the bundle's library folder only, whatever is asked of it."""
    code = without_files(loader.read_bytes(), LOADER_FILES)
    loader.write_bytes(without_search_path(code, triplet))


def blind_libc(libc: Path, triplet: str) -> None:
    """Make libc use its built-in locale, conversions and name services only."""
    files = [name.format(triplet=triplet) for name in LIBC_FILES]
    libc.write_bytes(without_files(libc.read_bytes(), files))


def without_files(code: bytes, names: Iterable[str]) -> bytes:
    """Redirect absolute file names in a binary to a place that cannot exist."""
    for name in names:
        old = b"\0" + name.encode() + b"\0"
        if old not in code:
            raise IntegrityError(
                f"Debian's C library no longer names {name}, so it cannot be shown to be "
                "independent of the image; this version of Stanchion does not know it"
            )
        # Same length: the library may have counted it when it was compiled.
        code = code.replace(old, b"\0" + NOWHERE + old[1 + len(NOWHERE) :])
    return code


def without_search_path(code: bytes, triplet: str) -> bytes:
    """Point the loader's built-in list of library folders away from the image."""
    folders = [name.format(triplet=triplet).encode() for name in SYSTEM_FOLDERS]
    old = b"\0" + b"\0".join(folders) + b"\0"
    if old not in code:
        raise IntegrityError(
            "Debian's loader no longer holds the known list of library folders, so it cannot be "
            "shown to be independent of the image; this version of Stanchion does not know it"
        )
    others = [
        replacement or NOWHERE + name[len(NOWHERE) :]
        for name, replacement in zip(folders, SYSTEM_FOLDERS.values(), strict=True)
    ]
    return code.replace(old, b"\0" + b"\0".join(others) + b"\0")
