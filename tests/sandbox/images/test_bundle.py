"""The bundle inside gVisor: in Debian, in an image with nothing in it, and in a hostile one."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from stanchion.images import entry
from stanchion.images.host import default_cache_dir
from stanchion.images.rootfs import BaseImage, ensure_base

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]

Launch = Callable[..., CompletedProcess[str]]

PYTHON = ["/opt/stanchion/bin/python3.11", "-I", "-S"]
LOOK = """
import sys
sys.path.append("/opt/stanchion/lib/python3.11/site-packages")
import asyncio, ctypes, hashlib, json, pwd, socket, sqlite3
import h11, msgspec, psutil

tried = []
for library in ("libnss_systemd.so.2", "libz.so.9", "libc.so.6"):
    try:
        ctypes.CDLL(library)
        tried.append(library)
    except OSError:
        pass
try:
    pwd.getpwnam("nobody-of-this-name")
except KeyError:
    pass
try:
    socket.getaddrinfo("nowhere.invalid", 80)
except OSError:
    pass
"".encode("utf-8").decode("latin-1")

mapped = {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
print(json.dumps({
    "outside": sorted(path for path in mapped if not path.startswith("/opt/stanchion/")),
    "inside": len(mapped),
    "loaded": tried,
    "prefix": sys.prefix,
    "modules": sorted(
        name for name, module in sys.modules.items()
        if (getattr(module, "__file__", None) or "/opt/stanchion/")[:15] != "/opt/stanchion/"
    ),
    "pid_is_visible": psutil.pid_exists(1),
    "sqlite": sqlite3.connect(":memory:").execute("select 6 * 7").fetchone()[0],
    "sha256": hashlib.sha256(b"").hexdigest()[:8],
    "packed": msgspec.json.encode({"a": 1}).decode(),
    "answer": asyncio.run(asyncio.sleep(0, "slept")),
}))
"""
EXPECTED = {
    "outside": [],
    "loaded": ["libc.so.6"],
    "prefix": "/opt/stanchion",
    "modules": [],
    "pid_is_visible": True,
    "sqlite": 42,
    "sha256": "e3b0c442",
    "packed": '{"a":1}',
    "answer": "slept",
}


def look(
    launch: Launch, root: Path, environment: Mapping[str, str] | None = None
) -> dict[str, object]:
    done = launch(root, [*PYTHON, "-c", LOOK], environment=environment)
    assert done.returncode == 0, done.stderr
    seen: dict[str, object] = json.loads(done.stdout)
    inside = seen.pop("inside")
    assert isinstance(inside, int)
    # The interpreter, loader, libc and each extension module: the list of maps was really read.
    assert inside > 20
    return seen


def test_in_debian_nothing_of_the_image_is_used(launch: Launch, debian: BaseImage) -> None:
    assert look(launch, debian.path) == EXPECTED


def test_in_an_empty_image_everything_works(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert look(launch, tmp_path / "empty") == EXPECTED


def test_a_hostile_environment_changes_nothing(launch: Launch, debian: BaseImage) -> None:
    hostile = {
        "LD_LIBRARY_PATH": "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu",
        "PYTHONHOME": "/nowhere",
        "PYTHONPATH": "/usr/lib/python3/dist-packages",
        "PYTHONSTARTUP": "/etc/passwd",
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "de",
        "GCONV_PATH": "/usr/lib/x86_64-linux-gnu/gconv",
    }

    assert look(launch, debian.path, hostile) == EXPECTED


def test_a_hostile_image_cannot_put_a_library_into_the_supervisor(
    launch: Launch, debian: BaseImage, tmp_path: Path
) -> None:
    (tmp_path / "preload").write_text("/lib/libz.so.9\n")
    (tmp_path / "nsswitch").write_text("passwd: systemd files\nhosts: myhostname dns\n")
    library = next(debian.path.glob("usr/lib/*/libz.so.1")).resolve()
    bound = {
        "/etc/ld.so.preload": tmp_path / "preload",
        "/etc/nsswitch.conf": tmp_path / "nsswitch",
        "/usr/lib/libnss_systemd.so.2": library,
        "/lib/libz.so.9": library,
    }
    root = tmp_path / "root"
    root.mkdir()

    done = launch(root, [*PYTHON, "-c", LOOK], bound=bound)

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["outside"], seen["loaded"]) == ([], ["libc.so.6"])


def test_a_sandbox_leaves_the_stored_base_as_it_was(launch: Launch, debian: BaseImage) -> None:
    write = "import pathlib; pathlib.Path('/usr/bin/env').write_text('changed'); print('written')"
    elsewhere = {"/opt/stanchion-harness/some/1.0": debian.path / "usr/share"}

    done = launch(debian.path, [*PYTHON, "-c", write], bound=elsewhere)

    assert done.stdout == "written\n", done.stderr
    again = ensure_base(default_cache_dir())
    assert (again.digest, again.cached) == (debian.digest, True)


def test_the_base_runs_what_tasks_expect(launch: Launch, debian: BaseImage) -> None:
    script = "python3 -m pytest --version && git --version && ps --version && test -d /tmp"

    done = launch(debian.path, ["/bin/sh", "-c", script])

    assert done.returncode == 0, done.stderr
    for name in ("pytest", "git version", "procps"):
        assert name in done.stdout


def test_the_base_holds_nothing_of_the_host(debian: BaseImage) -> None:
    for name in ("etc/resolv.conf", "etc/hostname", "etc/machine-id"):
        assert not (debian.path / name).exists()
    assert list((debian.path / "var/lib/apt/lists").iterdir()) == []
    assert list((debian.path / "etc/apt/sources.list.d").iterdir()) == []
    stored = entry.load(debian.path.parent)
    assert stored is not None
    assert stored.digest == debian.digest
