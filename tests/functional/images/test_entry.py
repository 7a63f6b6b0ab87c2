"""Two processes, and one that dies, at the same stored piece."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select
from subprocess import PIPE, Popen

import pytest

from stanchion.images import entry
from stanchion.images.errors import ImagesError

BUILDER = """\
import sys
from pathlib import Path
from stanchion.images import entry

def build(root):
    print("building", flush=True)
    sys.stdin.readline()
    (root / "file").write_text("content")
    return entry.Built()

made = entry.ensure(Path(sys.argv[1]), build)
print("cached" if made.cached else "built", flush=True)
"""

Builder = Popen[str]


@pytest.fixture
def builders(tmp_path: Path) -> Iterator[list[Builder]]:
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "piece")]
    started = [Popen(command, stdin=PIPE, stdout=PIPE, text=True) for _ in range(2)]
    yield started
    for process in started:
        process.kill()
        process.communicate(timeout=10)


def read_line(process: Builder) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def let_go(process: Builder) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def first_to_build(processes: list[Builder]) -> tuple[Builder, Builder]:
    one, other = processes
    assert one.stdout is not None
    assert other.stdout is not None
    ready, _, _ = select([one.stdout, other.stdout], [], [], 20)
    assert ready, "nobody began to build"
    return (one, other) if ready[0] is one.stdout else (other, one)


def test_two_processes_build_a_piece_once(builders: list[Builder]) -> None:
    builder, waiter = first_to_build(builders)

    assert read_line(builder) == "building"
    let_go(builder)

    assert read_line(builder) == "built"
    assert read_line(waiter) == "cached"


def test_when_the_builder_is_killed_the_next_one_builds_the_whole(
    builders: list[Builder], tmp_path: Path
) -> None:
    builder, waiter = first_to_build(builders)
    assert read_line(builder) == "building"
    builder.send_signal(signal.SIGKILL)

    assert read_line(waiter) == "building"
    let_go(waiter)

    assert read_line(waiter) == "built"
    found = entry.load(tmp_path / "piece")
    assert found is not None
    assert (found.path / "file").read_text() == "content"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".piece.lock", "piece"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_piece_in_which_something_is_mounted_is_not_removed_but_named(tmp_path: Path) -> None:
    point = tmp_path / ".piece.building" / "tree of mine"
    point.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", point], check=True, timeout=20)
    try:
        (point / "precious").touch()
        with pytest.raises(ImagesError, match="is mounted in it, as a build leaves it") as refused:
            entry.ensure(tmp_path / "piece", lambda _root: entry.Built())
        assert refused.value.fix == f"umount {shlex.quote(str(point))}"
        assert (point / "precious").exists()
        subprocess.run(refused.value.fix, shell=True, check=True, timeout=20)
    except BaseException:
        subprocess.run(["umount", point], check=False, timeout=20)
        raise
    assert not entry.ensure(tmp_path / "piece", lambda _root: entry.Built()).cached
