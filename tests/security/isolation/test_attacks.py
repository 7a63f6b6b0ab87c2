"""A hostile agent reaches nothing of the supervisor and cannot make its end look like another.

In gVisor, where root may signal a namespace's init and may open its descriptors again
(google/gvisor#11836), which Linux forbids.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from fakes.runsc_box import CANARY, BoxRun
from security.isolation.trials import TRIALS

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(200)]

SCANS = ("scan as root", "scan as user")
EMPTY = {"/run/stanchion": [], "/run/stanchion-spool": []}
REFUSALS = {
    "Operation not permitted",
    "Permission denied",
    "Invalid argument",
    "Device or resource busy",
    "Read-only file system",
    "Function not implemented",
    "Operation not supported",
    "No such file or directory",
}


@pytest.fixture(params=SCANS)
def found(ran: BoxRun, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What one hostile agent found, by what it tried."""
    trial = ran.trials[request.param]
    lines = [json.loads(line) for line in trial["stdout"].splitlines()]
    return {line["try"]: line["found"] for line in lines}


def leaves(value: object) -> Iterator[object]:
    """Every value below a finding."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def ended(ran: BoxRun, name: str) -> dict[str, Any]:
    trial = ran.trials[name]
    assert "failed" not in trial, trial
    assert trial["end"]["namespace_empty"] is True
    assert trial["left"] == []
    return trial["end"]


def test_every_try_was_made(ran: BoxRun, found: dict[str, Any]) -> None:
    assert [trial.name for trial in TRIALS] == list(ran.trials)
    assert len(found) == 23
    assert not [what for what, result in found.items() if str(result).startswith("RAISED")]


def test_only_its_own_processes_are_visible(found: dict[str, Any]) -> None:
    assert found["seen_processes"] == {"1": "python3.11", "2": "python3", "3": "python3"}
    assert found["pids below"] == 1


def test_the_canary_is_in_no_file_and_no_process(ran: BoxRun, found: dict[str, Any]) -> None:
    assert found["canary_in_process_files"] == []
    assert found["canary_in_files"] == []
    assert found["shim_environment"] == 0
    assert not [name for name in SCANS if CANARY in ran.trials[name]["stdout"]]


def test_the_shim_cannot_be_read_or_traced(found: dict[str, Any]) -> None:
    tries = ("shim_memory", "shim_memory_by_call", "trace_shim", "take_shim_descriptor")
    assert set(leaves([found[name] for name in tries])) <= REFUSALS


def test_the_shims_channel_cannot_be_opened_again(found: dict[str, Any]) -> None:
    """A pipe could be: root would write the report of its own end."""
    assert found["shim_descriptors"] == {}


def test_hidden_folders_stay_empty_from_everywhere(found: dict[str, Any]) -> None:
    assert found["listing"] == EMPTY
    assert found["user_and_pid_namespace"] == EMPTY
    assert found["user_namespace"]["hidden"] == [EMPTY, EMPTY]
    assert found["enter_other_namespaces"]["hidden"] == EMPTY
    for seen in leaves([found["through_other_roots"], found["escape_chroot"]]):
        assert seen in REFUSALS


def test_no_socket_of_the_supervisor_is_reached(found: dict[str, Any]) -> None:
    ways = (
        found["connect"],
        found["enter_other_namespaces"]["sockets"],
        found["user_namespace"]["sockets"],
    )
    assert set(leaves(list(ways))) == {"No such file or directory"}


@pytest.mark.parametrize("what", ["unmount", "remount", "write_to_supervisor"])
def test_mounts_and_code_cannot_be_changed(found: dict[str, Any], what: str) -> None:
    assert set(leaves(found[what])) <= REFUSALS


def test_a_user_namespace_gives_no_power_over_these_mounts(found: dict[str, Any]) -> None:
    assert found["user_namespace"]["unshare"] == "ok"
    assert set(leaves(found["user_namespace"]["unmount"])) == {"Invalid argument"}
    assert found["user_namespace"]["pids"] == 3


def test_the_supervisors_paths_cannot_be_moved_away(found: dict[str, Any]) -> None:
    """Else `mv /opt`, an own interpreter in its place, and the verifier's shim is the agent's."""
    assert set(leaves([found["move_paths"], found["user_namespace"]["moved"]])) <= REFUSALS


def test_powerful_calls_are_refused(found: dict[str, Any]) -> None:
    assert set(leaves(found["raw_sockets_and_new_calls"])) <= REFUSALS


def test_capabilities_are_the_declared_ones(ran: BoxRun, found: dict[str, Any]) -> None:
    assert int(found["capabilities"]["CapBnd"], 16) == 0xA80405FB
    assert int(found["capabilities"]["CapEff"], 16) in {0, 0xA80405FB}
    assert int(found["capabilities"]["CapInh"], 16) == 0


def test_killing_the_shim_is_seen_as_that(ran: BoxRun) -> None:
    end = ended(ran, "kill shim")
    assert end["wait"] is None
    assert end["why"] == "the shim was ended by SIGKILL without a report"
    assert end["killed_from_inside"] is True
    assert "still here" not in ran.trials["kill shim"]["stdout"]
    assert [what for what, _ in ran.trials["kill shim"]["notes"]] == ["shim_killed"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("term shim", 4),
        ("stop shim", 5),
        ("stop shim and leave", 6),
        ("stop storm", 3),
        ("kill all", 7),
        ("kill shim as user", 8),
        ("stop shim as user", 9),
        ("break devices", 0),
        ("after all that", 0),
    ],
)
def test_the_harness_still_ends_with_its_own_status(ran: BoxRun, name: str, code: int) -> None:
    assert ended(ran, name)["wait"] == {"exit_code": code, "signal": None}
    assert ended(ran, name)["killed_from_inside"] is False


def test_killing_its_own_group_is_the_harness_ending_itself(ran: BoxRun) -> None:
    assert ended(ran, "kill group")["wait"] == {"exit_code": None, "signal": 9}


@pytest.mark.parametrize("name", ["stop shim", "stop shim and leave", "stop storm"])
def test_stopping_the_shim_is_told(ran: BoxRun, name: str) -> None:
    assert ran.trials[name]["notes"][0][0] == "shim_stopped"


def test_the_supervisor_was_harmed_by_none_of_it(ran: BoxRun) -> None:
    assert ran.exit_code == 0, ran.stderr
    everything = {"model.sock": True, "control.sock": True}
    assert ran.last["reached_first"] == ran.last["reached_last"] == everything
    assert ran.last["spool"] is True
    assert ran.last["left"] == []
    assert ran.last["bundle"] == ["app", "bin", "lib", "licenses", "manifest.json"]
    # The supervisor's own two connections a socket, and not one more.
    assert ran.connections == {"model.sock": 2, "control.sock": 2}
