"""How ordinary harnesses live and end in a real sandbox, as the supervisor there sees it."""

from typing import Any

import pytest

from fakes.runsc_box import CANARY, BoxRun
from sandbox.isolation.trials import EXIT_CODES, SIGNALS, TRIALS

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(200)]

STARTED = [trial.name for trial in TRIALS if trial.name != "hidden folder missing"]


def end(ran: BoxRun, name: str) -> dict[str, Any]:
    trial = ran.trials[name]
    assert "failed" not in trial, trial
    return trial["end"]


def status(ran: BoxRun, name: str) -> tuple[int | None, int | None]:
    wait = end(ran, name)["wait"]
    assert wait is not None, end(ran, name)
    return wait["exit_code"], wait["signal"]


def test_every_trial_reported_and_the_sandbox_ended_well(ran: BoxRun) -> None:
    assert ran.exit_code == 0, ran.stderr
    assert list(ran.trials) == [trial.name for trial in TRIALS]


@pytest.mark.parametrize("name", STARTED)
def test_every_check_holds_each_time(ran: BoxRun, name: str) -> None:
    trial = ran.trials[name]
    assert {name for name, holds in trial["checks"].items() if not holds} == set()
    assert len(trial["checks"]) == 9
    assert trial["mode"] == "M2"


@pytest.mark.parametrize("name", STARTED)
def test_nothing_is_left_after_the_end(ran: BoxRun, name: str) -> None:
    assert end(ran, name)["namespace_empty"] is True
    assert ran.trials[name]["left"] == []


@pytest.mark.parametrize("code", EXIT_CODES)
def test_an_exit_code_is_reported_as_it_was(ran: BoxRun, code: int) -> None:
    assert status(ran, f"exit {code}") == (code, None)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_told_from_an_exit_code(ran: BoxRun, number: int) -> None:
    """Also shows that every signal had its default: an ignored one would not have ended it."""
    assert status(ran, f"signal {number}") == (None, number)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing program", "executing /no/such/program failed: No such file or directory"),
        ("not executable", "executing /etc/passwd failed: Permission denied"),
    ],
)
def test_a_program_that_cannot_run_is_no_exit_status(ran: BoxRun, name: str, why: str) -> None:
    assert end(ran, name)["wait"] is None
    assert end(ran, name)["why"] == why
    assert end(ran, name)["killed_from_inside"] is False


def test_the_program_is_found_on_its_own_path_with_its_own_environment(ran: BoxRun) -> None:
    assert ran.trials["found on the path"]["stdout"] == "/root\n"


def test_the_harness_holds_its_three_pipes_and_nothing_else(ran: BoxRun) -> None:
    # The fourth is the folder that `ls` has opened to list.
    assert ran.trials["descriptors"]["stdout"].split() == [*"0123", "pipe", "pipe", "pipe"]


def test_a_root_harness_is_a_session_of_its_own(ran: BoxRun) -> None:
    uid, gid, groups, folder, umask, session = ran.trials["identity"]["stdout"].split()
    assert (uid, gid, groups, folder, umask, session) == ("0", "0", "0", "/", "0022", "2")


def test_another_user_has_no_capability(ran: BoxRun) -> None:
    uid, gid, groups, _, effective = ran.trials["identity 1000"]["stdout"].split()
    assert (uid, gid, groups, int(effective, 16)) == ("1000", "1000", "1000", 0)


def test_more_than_a_pipe_goes_through_each_stream(ran: BoxRun) -> None:
    assert ran.trials["big output"]["stdout_bytes"] == 5_000_000
    assert status(ran, "big output") == (4, None)
    assert ran.trials["big error"]["stdout"] == "done\n"
    assert ran.trials["big input"]["stdout"] == "1000000\n"
    assert ran.trials["big environment"]["stdout"] == "100000\n"


def test_input_that_nobody_reads_harms_nobody(ran: BoxRun) -> None:
    assert ran.trials["input not read"]["stdout"] == "ok\n"
    assert status(ran, "input not read") == (0, None)


def test_two_hundred_orphans_are_reaped(ran: BoxRun) -> None:
    # The shim, the shell, its substitution and `ls`.
    assert int(ran.trials["orphans"]["stdout"]) <= 4
    assert status(ran, "orphans") == (5, None)


def test_leftovers_in_sessions_of_their_own_end_with_the_harness(ran: BoxRun) -> None:
    assert status(ran, "leftovers") == (6, None)


def test_terminating_reaches_the_harness_and_not_the_shim(ran: BoxRun) -> None:
    assert status(ran, "term") == (9, None)
    assert ran.trials["term"]["stdout"] == "ready\nbye\n"
    assert status(ran, "term without a trap") == (None, 15)


def test_killing_ends_everything_and_says_who_did_it(ran: BoxRun) -> None:
    killed = end(ran, "term then kill")
    assert killed["wait"] is None
    assert killed["why"] == "killed by the supervisor"
    assert killed["killed_from_inside"] is False


def test_a_stopped_shim_is_continued_and_told(ran: BoxRun) -> None:
    assert status(ran, "shim stopped from outside") == (8, None)
    assert [what for what, _ in ran.trials["shim stopped from outside"]["notes"]] == [
        "shim_stopped"
    ]


def test_an_abandoned_harness_never_ran(ran: BoxRun) -> None:
    assert end(ran, "abandoned")["wait"] is None
    assert end(ran, "abandoned")["killed_from_inside"] is False
    assert status(ran, "after abandoned") == (2, None)


def test_hidden_folders_are_empty_and_closed(ran: BoxRun) -> None:
    shown = ran.trials["hidden"]
    assert shown["stdout"].split() == ["/run/stanchion:", "/run/stanchion-spool:"]
    assert "Read-only file system" in shown["stderr"]


def test_each_start_hides_its_own_folders(ran: BoxRun) -> None:
    shown = ran.trials["other hidden set"]["stdout"].split()
    assert shown == ["/run/stanchion:", "/srv:", CANARY]


def test_a_folder_that_cannot_be_hidden_refuses_the_start(ran: BoxRun) -> None:
    assert "/no/such/folder" in ran.trials["hidden folder missing"]["failed"]
    assert ran.trials["hidden folder missing"]["failed"].startswith("IsolationError(")


def test_root_can_do_what_tasks_need_of_root(ran: BoxRun) -> None:
    assert ran.trials["ordinary root work"]["stdout"] == "bob\nfine\n"


def test_the_supervisor_keeps_everything_of_its_own(ran: BoxRun) -> None:
    everything = {"model.sock": True, "control.sock": True}
    assert ran.last["reached_first"] == ran.last["reached_last"] == everything
    assert ran.last["spool"] is True
    assert ran.last["left"] == []
    assert ran.connections == {"model.sock": 2, "control.sock": 2}
