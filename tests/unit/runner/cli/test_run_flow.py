"""What `stanchion run` prints at its end, and exits with."""

import json
from pathlib import Path

import pytest
from tests.fakes.jobs import an_end, ended, prepared_job
from tests.fakes.results import a_result

from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.outcome import EndReason
from stanchion.runner.cli.run_flow import Ways, _code, _print_end, _print_plan
from stanchion.runner.jobs.run_job import JobEnd
from stanchion.runner.jobs.scheduler import GaveUp
from stanchion.runner.jobs.trip import Trip

TRIP = Trip(what="x refused the key of p/x (401 auth)", fix="stanchion key set p/x, then run DIR")


def ways(**changes: bool) -> Ways:
    known = {"print_spec": False, "dry_run": False, "as_json": False, "follow": True}
    return Ways(**(known | changes), timeout_s=None)


def printed(capsys: pytest.CaptureFixture[str], end: JobEnd, *, attempts: int, **how: bool) -> str:
    _print_end(prepared_job(Path("out"), attempts), end, ways(**how))
    return capsys.readouterr().out


def test_one_attempt_is_its_result_and_more_are_their_sums(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = an_end(ended(1), attempts=1)
    assert "run 7f3a90c41b22 · hello attempt 1" in printed(capsys, one, attempts=1)
    assert json.loads(printed(capsys, one, attempts=1, as_json=True))["attempt"] == 1

    many = an_end(ended(1), ended(2))
    text = printed(capsys, many, attempts=3)
    assert "coverage          0.667" in text
    assert text.endswith("results           out\n")
    document = json.loads(printed(capsys, many, attempts=3, as_json=True))
    assert len(document["attempts"]) == 2


def test_a_single_attempt_that_never_was_is_a_job_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    none = an_end(attempts=1, trip=TRIP, gave_up={("hello", 1): GaveUp("no key")})
    _print_end(prepared_job(Path("out"), 1), none, ways(as_json=True))
    out, errors = capsys.readouterr()

    assert json.loads(out)["stopped"] == TRIP.what
    assert errors == (
        "x refused the key of p/x (401 auth). 0 attempts ended unscored, 1 not started. "
        "Fix: stanchion key set p/x, then run out\n"
    )


def test_each_that_never_began_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    end = an_end(ended(1), gave_up={("hello", 2): GaveUp("no limit")})
    _print_end(prepared_job(Path("out")), end, ways())

    assert capsys.readouterr().err == "not begun: hello__2: no limit\n"


def test_a_plan_is_printed_in_three_forms(capsys: pytest.CaptureFixture[str]) -> None:
    prepared = prepared_job(Path("out"))
    _print_plan(prepared, ways(print_spec=True))
    assert json.loads(capsys.readouterr().out)["profile"] == "rehearsal"
    _print_plan(prepared, ways(dry_run=True, as_json=True))
    assert json.loads(capsys.readouterr().out)["retries"] == 1
    _print_plan(prepared, ways(dry_run=True))
    assert capsys.readouterr().out.startswith("job ")


def test_what_did_not_start_is_a_failure() -> None:
    dead = ended(2, a_result(EndReason.HARNESS_EXIT, attempt=2, score=None))

    assert _code(an_end(ended(1), attempts=1), None) is ExitCode.OK
    assert _code(an_end(ended(1), attempts=2), None) is ExitCode.FAILED
    assert _code(an_end(ended(1), dead, attempts=2), None) is ExitCode.FAILED
    assert _code(an_end(ended(1), attempts=2), ExitCode.TIMEOUT) is ExitCode.TIMEOUT
    assert ways().starts
    assert not ways(dry_run=True).starts
