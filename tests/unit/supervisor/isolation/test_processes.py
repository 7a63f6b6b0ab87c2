"""Reading /proc, on a made-up one."""

from pathlib import Path

import pytest

from stanchion.supervisor.isolation import processes


@pytest.fixture
def proc(tmp_path: Path) -> str:
    (tmp_path / "self").mkdir()
    add(tmp_path, 1, parent=0, namespace="pid:[1]")
    add(tmp_path, 30, parent=1, namespace="pid:[2]", name="a shim")
    add(tmp_path, 31, parent=30, namespace="pid:[2]", name="evil) Z 1 (")
    add(tmp_path, 32, parent=30, namespace="pid:[2]", state="Z")
    return str(tmp_path)


def add(
    proc: Path, pid: int, *, parent: int, namespace: str, name: str = "x", state: str = "S"
) -> None:
    (proc / str(pid) / "ns").mkdir(parents=True)
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1 0 0\n")
    (proc / str(pid) / "ns" / "pid").symlink_to(namespace)


def test_only_numbers_are_processes(proc: str) -> None:
    assert processes.numbers(proc) == [1, 30, 31, 32]


def test_a_name_cannot_fake_state_or_parent(proc: str) -> None:
    entry = processes.look(31, proc)
    assert entry is not None
    assert (entry.pid, entry.state, entry.parent) == (31, "S", 30)


def test_children_include_those_that_ended(proc: str) -> None:
    assert processes.children(30, proc) == [31, 32]


def test_what_is_gone_or_garbled_is_not_there(proc: str) -> None:
    (Path(proc) / "31" / "stat").write_text("")
    assert processes.look(31, proc) is None
    assert processes.look(99, proc) is None
    assert processes.children(30, proc) == [32]
    assert processes.pid_namespace(99, proc) is None


def test_running_means_there_and_not_ended(proc: str) -> None:
    assert [processes.is_running(pid, proc) for pid in (30, 32, 99)] == [True, False, False]


def test_inhabitants_are_the_running_of_that_namespace(proc: str) -> None:
    assert processes.inhabitants("pid:[2]", proc) == [30, 31]
    assert processes.inhabitants("pid:[3]", proc) == []
