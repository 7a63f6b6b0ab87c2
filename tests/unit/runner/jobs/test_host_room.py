"""Figures of this host."""

from pathlib import Path

from stanchion.runner.jobs.host_room import available_memory_mb, place_of


def test_a_folder_that_is_not_there_yet_is_on_its_parents_file_system(tmp_path: Path) -> None:
    there, later = place_of(tmp_path), place_of(tmp_path / "a" / "b")

    assert (later.path, later.device) == (tmp_path / "a" / "b", there.device)
    assert later.free_mb > 0


def test_memory_is_known_here() -> None:
    found = available_memory_mb()
    assert found is not None
    assert found > 0
