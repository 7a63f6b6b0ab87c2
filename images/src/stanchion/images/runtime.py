"""The part of the supervisor bundle that is not ours: CPython 3.11, its libraries, three packages.

Put together from Debian's signed packages and hash-pinned wheels, without a compiler and without
root. libcrypto and ssl stay out: OpenSSL would read the image's openssl.cnf, which can load code.
"""

import hashlib
import shutil
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from stanchion.images import apt, elf, tools, wheels
from stanchion.images.errors import IntegrityError
from stanchion.images.host import Architecture

PREFIX = "/opt/stanchion"
PYTHON = "bin/python3.11"
STDLIB = "lib/python3.11"
SITE_PACKAGES = f"{STDLIB}/site-packages"
PACKAGES = (
    "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6", "libgcc-s1",
    "libffi8", "zlib1g", "libexpat1", "liblzma5", "libbz2-1.0", "libuuid1", "libsqlite3-0",
)  # fmt: skip
LIBRARIES = (
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
    "libffi.so.8", "libz.so.1", "libexpat.so.1", "liblzma.so.5", "libbz2.so.1.0", "libuuid.so.1",
    "libsqlite3.so.0",
)  # fmt: skip
UNUSED_MODULES = (
    "EXTERNALLY-MANAGED", "__pycache__", "config-*", "sitecustomize.py",
    # For people at a keyboard, for building, for protocols and formats nobody here speaks.
    "aifc.py", "antigravity.py", "asynchat.py", "asyncore.py", "cgi.py", "cgitb.py", "chunk.py",
    "ctypes/test", "curses", "dbm", "distutils", "doctest.py", "ensurepip", "ftplib.py", "idlelib",
    "imaplib.py", "imghdr.py", "lib2to3", "mailbox.py", "mailcap.py", "modulefinder.py",
    "msilib", "nntplib.py", "pdb.py", "pickletools.py", "poplib.py", "pydoc.py", "pydoc_data",
    "smtpd.py", "smtplib.py", "sndhdr.py", "sqlite3/test", "sunau.py", "telnetlib.py", "test",
    "this.py", "tkinter", "turtle.py", "turtledemo", "unittest/test", "uu.py", "venv", "wave.py",
    "webbrowser.py", "wsgiref", "xdrlib.py", "xmlrpc",
    # Both would bring OpenSSL, which obeys a configuration file of the image.
    "lib-dynload/_ssl.*", "lib-dynload/_hashlib.*",
    "lib-dynload/*test*", "lib-dynload/xx*", "lib-dynload/_xx*", "lib-dynload/_curses*",
    "lib-dynload/_dbm*", "lib-dynload/_codecs_*", "lib-dynload/_crypt.*", "lib-dynload/audioop*",
    "lib-dynload/nis*", "lib-dynload/ossaudiodev*", "lib-dynload/readline*",
    # Encodings whose tables were taken away above, or that were last used decades ago.
    *(f"encodings/{family}*.py" for family in (
        "big5", "cp1[01]", "cp7", "cp8", "cp9", "euc_", "gb", "hp_", "hz", "iso2022", "johab",
        "koi8", "kz1048", "mac_", "palmos", "ptcp", "shift_", "tis_",
    )),
)  # fmt: skip


def recipe(lock: str) -> str:
    """Changes whenever another runtime would come out of the same downloads."""
    parts = [PREFIX, lock, *PACKAGES, *LIBRARIES, *UNUSED_MODULES]
    parts += [resources.files("stanchion.images").joinpath(name).read_text("utf-8")
              for name in ("runtime.py", "elf.py", "wheels.py")]  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def build(root: Path, architecture: Architecture, lock: str, debs: Sequence[apt.Deb]) -> None:
    """Fill `root` with the runtime; `root` becomes /opt/stanchion."""
    with TemporaryDirectory(prefix="stanchion-runtime-", dir=root.parent) as scratch:
        downloads, unpacked = Path(scratch, "downloads"), Path(scratch, "unpacked")
        downloads.mkdir()
        unpacked.mkdir()
        for package in apt.download(PACKAGES, debs, downloads):
            tools.run(["dpkg-deb", "-x", package, unpacked], doing=f"unpacking {package.name}")
        _take_interpreter(unpacked, root, architecture)
        _take_licences(unpacked, root / "licenses")
        for wheel in wheels.download(lock, architecture, downloads):
            wheels.unpack(wheel, root / SITE_PACKAGES)
    elf.blind_loader(root / "lib" / architecture.loader, architecture.triplet)
    elf.blind_libc(root / "lib/libc.so.6", architecture.triplet)
    elf.set_interpreter(
        root / PYTHON,
        loader=f"{PREFIX}/lib/{architecture.loader}",
        library_path="$ORIGIN/../lib",
    )
    elf.check_closure(root, root / "lib")
    compile_modules(root, root / STDLIB, architecture)


def on_host(root: Path, architecture: Architecture) -> list[str]:
    """How to start the bundle's interpreter where it does not lie at its final place."""
    library_folder = root / "lib"
    loader = library_folder / architecture.loader
    return [
        str(loader),
        "--library-path",
        str(library_folder),
        str(root / PYTHON),
        "-I",
        "-S",
        "-B",
    ]


def compile_modules(root: Path, folder: Path, architecture: Architecture) -> None:
    """Compile with the bundle's own interpreter, never to be checked against the source again."""
    command = [
        *on_host(root, architecture), "-m", "compileall", "-q",
        "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", PREFIX, str(folder),
    ]  # fmt: skip
    tools.run(command, doing="compiling the bundle's modules")


def pack_modules(root: Path, architecture: Architecture) -> None:
    """Put what process 1 imports into one file, in the bundle's own interpreter."""
    command = [*on_host(root, architecture), str(root / "app" / "packed.py"), str(root)]
    tools.run(command, doing="packing the bundle's modules")


def _take_interpreter(unpacked: Path, root: Path, architecture: Architecture) -> None:
    (root / "bin").mkdir()
    shutil.copy2(unpacked / "usr" / PYTHON, root / PYTHON)
    shutil.copytree(unpacked / "usr" / STDLIB, root / STDLIB, symlinks=False)
    for pattern in UNUSED_MODULES:
        for unused in (root / STDLIB).glob(pattern):
            shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    for name in (*LIBRARIES, architecture.loader):
        found = [path for path in unpacked.rglob(name) if architecture.triplet in path.parts]
        if not found:
            raise IntegrityError(f"Debian's packages no longer hold {name}, which the bundle needs")
        shutil.copyfile(found[0], root / "lib" / name)
        (root / "lib" / name).chmod(0o755)


def _take_licences(unpacked: Path, target: Path) -> None:
    target.mkdir()
    for document in (unpacked / "usr/share/doc").glob("*/copyright"):
        if document.is_file():
            shutil.copyfile(document, target / document.parent.name)
