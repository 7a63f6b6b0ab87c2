"""Memory cgroups in both hierarchies, on folders that look like them."""

from pathlib import Path

import pytest

from stanchion.runner.sandbox.cgroup import GroupV1, GroupV2, Unavailable, make_group


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    for folder in (tmp_path, tmp_path / "stanchion"):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.controllers").write_text("memory cpu")
        (folder / "cgroup.subtree_control").write_text("")
    return tmp_path


def test_the_legacy_hierarchy_gets_a_limit_and_is_read(legacy: Path) -> None:
    group = make_group("ab", memory_bytes=1000, mount=legacy)

    assert isinstance(group, GroupV1)
    assert group.cgroups_path == "/stanchion/ab"
    assert (group.folder / "memory.limit_in_bytes").read_text() == "1000"
    (group.folder / "memory.oom_control").write_text("oom_kill_disable 0\noom_kill 3\n")
    (group.folder / "memory.max_usage_in_bytes").write_text("900\n")
    assert (group.oom_kills(), group.peak_bytes()) == (3, 900)


def test_the_unified_hierarchy_gets_a_limit_and_is_read(unified: Path) -> None:
    group = make_group("ab", memory_bytes=1000, mount=unified)

    assert isinstance(group, GroupV2)
    assert group.cgroups_path == "/stanchion/ab"
    assert (group.folder / "memory.max").read_text() == "1000"
    assert (unified / "cgroup.subtree_control").read_text() == "+cpu"  # the last of two writes
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert group.oom_kills() == 2


def test_what_cannot_be_read_is_unknown_never_zero(legacy: Path) -> None:
    group = make_group("ab", memory_bytes=1000, mount=legacy)
    assert isinstance(group, GroupV1)

    assert (group.oom_kills(), group.peak_bytes()) == (None, None)
    (group.folder / "memory.oom_control").write_text("oom_kill many\n")
    (group.folder / "memory.max_usage_in_bytes").write_text("?\n")
    assert (group.oom_kills(), group.peak_bytes()) == (None, None)


def test_a_host_without_the_controller_says_why(tmp_path: Path) -> None:
    found = make_group("ab", memory_bytes=1000, mount=tmp_path)

    assert isinstance(found, Unavailable)
    assert "no memory controller" in found.why


def test_a_group_that_cannot_be_made_says_why(legacy: Path) -> None:
    (legacy / "memory" / "stanchion").write_text("in the way")
    found = make_group("ab", memory_bytes=1000, mount=legacy)

    assert isinstance(found, Unavailable)
    assert "need root" in found.why


async def test_a_removed_group_is_gone_and_may_be_removed_again(legacy: Path) -> None:
    group = make_group("ab", memory_bytes=1000, mount=legacy)
    assert isinstance(group, GroupV1)
    (group.folder / "memory.limit_in_bytes").unlink()  # a real cgroup's files need no removal

    await group.remove()
    await group.remove()
    assert not group.folder.exists()


async def test_a_group_in_the_way_of_its_removal_is_an_error(legacy: Path) -> None:
    group = make_group("ab", memory_bytes=1000, mount=legacy)
    assert isinstance(group, GroupV1)

    with pytest.raises(OSError, match="not empty"):
        await group.remove()
