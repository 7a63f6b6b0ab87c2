"""What an attempt without gVisor is shown, and what not."""

from pathlib import PurePosixPath

import pytest

from stanchion.runner.sandbox.oci import AGENT_CAPABILITIES, Bind
from stanchion.runner.sandbox.process_view import (
    CAPABILITY_NUMBERS,
    Entry,
    Kind,
    Listed,
    Step,
    entry,
    hosts_text,
)

HOST = Listed(
    top={"bin": "usr/bin", "usr": None, "etc": None, "home": None, "root": None, "var": None,
         "data": None, "opt": None},
    opt=("tools", "stanchion"),
)  # fmt: skip


def made(**changes: object) -> Entry:
    given = {
        "folder": PurePosixPath("/s/1"),
        "listed": HOST,
        "binds": (Bind("/c/bundle", "/opt/stanchion"), Bind("/r/7f", "/run/stanchion")),
        "command": ("/opt/stanchion/bin/python", "x"),
        "own_network": True,
    }
    return entry(**{**given, **changes})  # type: ignore[arg-type]  # the words are above


def sources(made_entry: Entry) -> dict[str, Step]:
    return {step.what: step for step in made_entry.steps if step.kind is Kind.BIND}


def test_programs_of_the_host_are_shown_read_only_and_nothing_of_its_people() -> None:
    bound = sources(made())

    assert {"/usr", "/etc", "/opt/tools"} <= set(bound)
    assert all(bound[path].read_only for path in ("/usr", "/etc", "/opt/tools"))
    assert not {"/home", "/root", "/var", "/data", "/opt", "/opt/stanchion"} & set(bound)
    assert Step(kind=Kind.LINK, path="/bin", what="usr/bin") in made().steps


def test_homes_and_temporary_folders_are_fresh() -> None:
    folders = {step.path: step.mode for step in made().steps if step.kind is Kind.FOLDER}

    assert folders["/root"] == 0o700
    assert folders["/tmp"] == 0o1777


def test_every_bind_has_its_place_made_before_it() -> None:
    seen: set[str] = {"/"}
    for step in made().steps:
        if step.kind in {Kind.FOLDER, Kind.FILE}:
            seen.add(step.path)
        elif step.kind is Kind.BIND and step.path != "/etc/hosts":
            assert step.path in seen
    assert "/run/stanchion" in seen


@pytest.mark.parametrize(
    ("place", "covered"),
    [
        ("/opt/tools/state", True),
        ("/etc/stanchion", True),
        ("/home/agent/state", False),
        ("/etc", False),
    ],
)
def test_places_of_keys_are_covered_where_they_would_be_shown(place: str, covered: bool) -> None:
    covers = [step.path for step in made(hidden=(place,)).steps if step.kind is Kind.COVER]
    assert covers == ([place] if covered else [])


def test_it_may_do_inside_what_an_agent_in_gvisor_may() -> None:
    assert made().capabilities == tuple(CAPABILITY_NUMBERS[name] for name in AGENT_CAPABILITIES)
    assert 21 not in made().capabilities  # CAP_SYS_ADMIN: it could uncover and remount


def test_its_environment_is_its_path_alone() -> None:
    assert set(made().environment) == {"PATH"}


def test_names_resolve_without_a_network() -> None:
    assert "127.0.0.1 localhost task" in hosts_text()
    assert Step(kind=Kind.BIND, path="/etc/hosts", what="/s/1/hosts") in made().steps
    without = made(listed=Listed(top=HOST.top, has_hosts=False))
    assert "/s/1/hosts" not in sources(without)
