"""One line a trace."""

from stanchion.runner.orphans.removing import Removed
from stanchion.runner.orphans.traces import Trace, TraceKind
from stanchion.runner.orphans.words import found_lines, removed_lines

DEAD = Trace(
    kind=TraceKind.SCRATCH,
    what="/s/2",
    attempt="bbbbbbbbbbbb.1",
    task="hello",
    age_s=3900,
    proven=True,
    why="its keeper (pid 7) is gone",
)
UNKNOWN = Trace(
    kind=TraceKind.CGROUP,
    what="/cg/3",
    attempt=None,
    task=None,
    age_s=None,
    proven=False,
    why="nobody here knows it",
)


def test_what_is_proved_comes_first_with_run_and_age() -> None:
    assert found_lines([UNKNOWN, DEAD]) == [
        (
            "ORPHAN   scratch    bbbbbbbbbbbb.1 (hello, begun 1 h 05 min ago)  /s/2: "
            "its keeper (pid 7) is gone"
        ),
        "unknown  cgroup     1, as /cg/3: nobody here knows it; left alone",
    ]


def test_what_could_not_be_removed_is_said() -> None:
    left = Removed(trace=DEAD, done=False, words="left: Permission denied")

    assert removed_lines([left])[0].startswith("LEFT ")


def test_nothing_is_said_too() -> None:
    assert found_lines([]) == ["no orphans"]
