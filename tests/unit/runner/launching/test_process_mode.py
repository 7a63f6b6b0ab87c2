"""What a launch without gVisor is refused for, and what it may say of its network."""

from pathlib import Path

import pytest

from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.process_mode import (
    check_workdir,
    private_places,
    process_network,
)
from stanchion.runner.sandbox.process_powers import Powers


def test_the_network_is_what_there_really_is() -> None:
    assert process_network(Powers(None, None, own_network=True)) == "none"
    assert process_network(Powers(None, None, own_network=False)) == "host"


@pytest.mark.parametrize(
    ("fix", "remedy"), [("sudo sysctl a=1", "run `sudo sysctl a=1`"), (None, "--sandbox runsc")]
)
def test_where_nothing_works_one_sentence_says_why_and_what_to_do(
    fix: str | None, remedy: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        process_network(Powers("no namespaces here", fix, own_network=False))
    assert "no namespaces here" in str(refused.value)
    assert remedy in refused.value.refusal.remedy


def test_a_work_folder_in_the_hosts_programs_is_refused() -> None:
    check_workdir("/work")
    check_workdir("/opt/app")
    with pytest.raises(RefusedError, match="/usr is this host's own"):
        check_workdir("/usr/src/app")


def test_state_and_the_configurations_keys_are_private(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "state").symlink_to(real)
    paths = StatePaths(tmp_path / "state")

    assert private_places(paths, None) == (str(real),)
    places = private_places(paths, tmp_path / "c" / "stanchion.toml")
    assert places[1:] == (str(tmp_path / "c"), str(tmp_path / "c" / "keys"))
