"""What the host may say about a sandbox, and when it must say that it does not know."""

from dataclasses import replace

import pytest

from stanchion.runner.keeper.host_facts import Observed, OomCounter, sum_up

CLEAN = Observed(
    exit_code=0,
    start_error=None,
    killed_at_deadline=False,
    started_wall_ms=1_000,
    first_event_ms=1_400,
    agent_ended_ms=60_000,
    total_ms=61_000,
    oom=OomCounter(),
    oom_why=None,
    peak_bytes=5,
    last_words=b"",
)


def counter(*readings: tuple[int, int | None]) -> OomCounter:
    oom = OomCounter()
    for at_ms, kills in readings:
        oom.read(kills, at_ms=at_ms)
    return oom


@pytest.mark.parametrize(
    ("readings", "end_ms", "rose"),
    [
        ([], 60_000, None),
        ([(50_000, None)], 60_000, None),
        ([(50_000, 0)], 60_000, False),
        ([(49_000, 0), (50_000, 1)], 60_000, True),
        ([(30_000, 1), (50_000, 1)], 60_000, False),
        ([(61_000, 1)], 60_000, True),
        ([(62_000, 1)], 60_000, False),
        ([(50_000, 1)], None, None),
        ([(30_000, 1), (50_000, 2)], 60_000, True),
    ],
)
def test_the_counter_counts_if_it_rose_in_the_20_s_before_the_end(
    readings: list[tuple[int, int | None]], end_ms: int | None, rose: bool | None
) -> None:
    assert counter(*readings).rose_before(end_ms) is rose


def test_a_clean_run() -> None:
    facts = sum_up(replace(CLEAN, oom=counter((1, 0))))

    assert (facts.sandbox_exit, facts.sandbox_started, facts.start_error) == (0, True, None)
    assert (facts.sandbox_start_ms, facts.total_ms) == (400, 61_000)
    assert (facts.oom_kills, facts.oom_rose_before_end, facts.limits_enforced) == (0, False, True)


def test_without_a_cgroup_kills_are_unknown_and_limits_not_enforced() -> None:
    facts = sum_up(replace(CLEAN, oom_why="no controller"))

    assert (facts.oom_kills, facts.oom_kills_why) == (None, "no controller")
    assert (facts.limits_enforced, facts.oom_rose_before_end) == (False, None)


def test_a_runtime_that_failed_before_any_event_did_not_start_the_sandbox() -> None:
    seen = replace(CLEAN, exit_code=128, first_event_ms=None, last_words=b"cannot create gofer\n")
    facts = sum_up(seen)

    assert (facts.sandbox_started, facts.start_error) == (False, "cannot create gofer")
    assert facts.sandbox_start_ms is None
    silent = sum_up(replace(seen, last_words=b""))
    assert silent.start_error == "it gave no reason"


def test_exit_128_after_events_is_an_ending_like_any_other() -> None:
    assert sum_up(replace(CLEAN, exit_code=128)).sandbox_started is True


def test_a_start_that_was_never_tried_keeps_its_reason() -> None:
    facts = sum_up(replace(CLEAN, exit_code=None, first_event_ms=None, start_error="no runsc"))

    assert (facts.sandbox_started, facts.sandbox_exit) == (False, None)
    assert facts.start_error == "no runsc"
