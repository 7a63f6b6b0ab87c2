"""Two processes, and one that dies, at the same stored piece."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select
from subprocess import PIPE, Popen

import pytest

from stanchion.images import entry

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
