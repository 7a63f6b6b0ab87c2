"""What is said of a keeper that is gone, and where a result is missing."""

from pathlib import Path

from tests.fakes.views import a_note

from stanchion.runner.host.process_identity import own_identity
from stanchion.runner.orphans.ending import lacks_result, lost_why


def test_a_keeper_of_this_boot_was_ended_from_outside() -> None:
    boot = own_identity().partition(" ")[0]

    assert lost_why(a_note(identity=f"{boot} 1")) == (
        "its keeper (pid 7) was ended from outside while it ran"
    )


def test_one_of_an_earlier_boot_went_with_the_host() -> None:
    assert lost_why(a_note(identity="earlier 1")) == "the host was restarted while it ran"


def test_only_a_folder_without_a_result_lacks_one(tmp_path: Path) -> None:
    assert lacks_result(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    assert not lacks_result(tmp_path)
    assert not lacks_result(tmp_path / "gone")
