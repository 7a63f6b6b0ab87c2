"""What lies about in the places where traces can be."""

from pathlib import Path

from tests.fakes.views import a_note

from stanchion.broker.client import StatePaths
from stanchion.runner.orphans.looking import Places, see

ID = "ab" * 16
OTHER = "cd" * 16


def test_everything_that_has_a_sandboxs_or_an_attempts_name_is_seen(tmp_path: Path) -> None:
    places = Places(StatePaths(tmp_path / "state"), tmp_path / "run", tmp_path / "cgroup")
    (places.scratch / ID).mkdir(parents=True)
    places.runsc_root.mkdir()
    (places.runsc_root / f"{ID}_sandbox:{ID}.state").touch()
    (places.runsc_root / "something else.state").touch()
    for name, inhabitants in ((ID, ""), (OTHER, "77\n")):
        group = places.cgroups / "memory" / "stanchion" / name
        (group / "inner").mkdir(parents=True)
        (group / "cgroup.procs").write_text("")
        (group / "inner" / "cgroup.procs").write_text(inhabitants)
    for name in ("0a1b2c3d", "not-one"):
        (places.runtime_dir / name).mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "result").mkdir(parents=True)
    note = a_note(directory=str(elsewhere), result_folder=str(elsewhere / "result"))
    seen = see(places, [note])

    assert seen.sandboxes == (ID,)
    assert seen.scratch == ((str(places.scratch / ID), ID),)
    assert seen.cgroups == ((str(places.cgroups / "memory" / "stanchion" / ID), ID),)
    assert seen.directories == (str(elsewhere), str(places.runtime_dir / "0a1b2c3d"))
    assert seen.results == frozenset()


def test_a_result_that_is_there_or_whose_folder_is_gone_is_not_missing(tmp_path: Path) -> None:
    places = Places(StatePaths(tmp_path / "state"), tmp_path / "run", tmp_path / "cgroup")
    (tmp_path / "result.json").write_text("{}")
    notes = [
        a_note("a" * 12 + ".1", result_folder=str(tmp_path)),
        a_note("b" * 12 + ".1", result_folder=str(tmp_path / "gone")),
    ]

    assert see(places, notes).results == {"a" * 12 + ".1", "b" * 12 + ".1"}
