"""The program that enters, as a program: what it tries, what it refuses, whom it dies with."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stanchion.runner.sandbox import process_entry
from stanchion.runner.sandbox.process import look_at_host
from stanchion.runner.sandbox.process_powers import entry_command, find_powers
from stanchion.runner.sandbox.process_view import Entry, entry

pytestmark = pytest.mark.timeout(60)


def order(folder: Path, *command: str) -> bytes:
    import msgspec

    (folder / "root").mkdir()
    (folder / "hosts").touch()
    made: Entry = entry(
        folder=folder, listed=look_at_host(), binds=(), command=command, own_network=False
    )
    return msgspec.json.encode(made)


def test_it_says_of_every_power_whether_it_is_there() -> None:
    done = subprocess.run([*entry_command(), "probe"], capture_output=True, timeout=30, check=True)
    said = json.loads(done.stdout)

    assert set(said) == {"namespaces", "network"}
    assert (said["namespaces"] is None) is (find_powers().why_not is None)


def test_it_is_gone_with_whoever_started_it(tmp_path: Path) -> None:
    if find_powers().why_not is not None:
        pytest.skip("no namespaces for this user")
    (tmp_path / "order").write_bytes(
        order(tmp_path, "/bin/sh", "-c", "sleep 300 & echo ready; wait")
    )
    starter = (
        "import subprocess, sys; "
        "subprocess.run(sys.argv[2:], stdin=open(sys.argv[1]), stderr=subprocess.DEVNULL)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", starter, str(tmp_path / "order"), *entry_command()],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        below = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    _, alive = psutil.wait_procs(below, timeout=20)
    assert len(below) == 3  # itself, process 1, sleep
    assert alive == []


def test_an_unknown_step_is_no_step(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no step is called 'dance'"):
        process_entry.take({"kind": "dance", "path": "/x", "what": ""}, str(tmp_path))


def test_folders_files_and_links_land_below_the_new_root(tmp_path: Path) -> None:
    for step in (
        {"kind": "folder", "path": "/dev", "what": "", "mode": 0o1777},
        {"kind": "folder", "path": "/dev", "what": "", "mode": 0o755},
        {"kind": "file", "path": "/dev/null", "what": ""},
        {"kind": "link", "path": "/bin", "what": "usr/bin"},
        {"kind": "cover", "path": "/not/there", "what": ""},
    ):
        process_entry.take(step, str(tmp_path))

    assert (tmp_path / "dev").stat().st_mode & 0o7777 == 0o1777
    assert (tmp_path / "dev" / "null").is_file()
    assert str((tmp_path / "bin").readlink()) == "usr/bin"
