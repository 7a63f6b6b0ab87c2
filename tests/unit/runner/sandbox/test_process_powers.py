"""From a trial to a sentence with its remedy."""

import sys
from pathlib import Path

import pytest

from stanchion.runner.sandbox.process_powers import (
    Powers,
    entry_command,
    find_powers,
    forbidding_switch,
    judge,
)


def test_where_all_works_nothing_is_missing() -> None:
    found: dict[str, str | None] = {"namespaces": None, "network": None}
    assert judge(found, None) == Powers(why_not=None, fix=None, own_network=True)


def test_a_host_network_is_a_fact_and_no_refusal() -> None:
    powers = judge({"namespaces": None, "network": "no"}, None)
    assert (powers.why_not, powers.own_network) == (None, False)


def test_a_setting_that_forbids_it_is_named_with_the_command_that_allows_it() -> None:
    words = "own user namespace: Operation not permitted"
    powers = judge({"namespaces": words, "network": words}, ("kernel.some_switch", "0"))
    assert powers.fix == "sudo sysctl kernel.some_switch=0"
    assert powers.why_not is not None
    assert words in powers.why_not
    assert "kernel.some_switch forbids it" in powers.why_not


def test_without_a_known_setting_there_is_no_invented_remedy() -> None:
    powers = judge({"namespaces": "no", "network": "no"}, None)
    assert powers.fix is None
    assert powers.why_not == "this host gives no namespaces to this user (no)"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1",
         ("kernel.apparmor_restrict_unprivileged_userns", "0")),
        ("kernel/unprivileged_userns_clone", "0", ("kernel.unprivileged_userns_clone", "1")),
        ("user/max_user_namespaces", "0", ("user.max_user_namespaces", "15000")),
        ("user/max_user_namespaces", "96364", None),
    ],
)  # fmt: skip
def test_the_setting_to_blame_is_found(
    tmp_path: Path, name: str, value: str, found: tuple[str, str] | None
) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(f"{value}\n")
    assert forbidding_switch(tmp_path) == found


def test_a_trial_that_says_nothing_counts_as_no() -> None:
    powers = find_powers([sys.executable, "-c", "print('{')"])
    assert powers.why_not is not None
    assert not powers.own_network


def test_the_trial_is_the_program_that_enters() -> None:
    assert entry_command("/p")[0] == "/p"
    assert Path(entry_command()[-1]).is_file()
