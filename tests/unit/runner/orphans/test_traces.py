"""Whose a trace is, and that only what is proved dead counts as an orphan."""

from typing import Any

import msgspec
from tests.fakes.views import a_note, a_view

from stanchion.runner.orphans.traces import Seen, Trace, TraceKind, traces

NOW_MS = 1_000_000
LIVING = a_note("a" * 12 + ".1", sandbox_id="1" * 32, directory="/run/s/aaaaaaaa")
DEAD = a_note("b" * 12 + ".1", sandbox_id="2" * 32, directory="/run/s/bbbbbbbb")
SEEN = Seen(
    sandboxes=("1" * 32, "2" * 32, "3" * 32),
    cgroups=(("/cg/1", "1" * 32), ("/cg/2", "2" * 32), ("/cg/3", "3" * 32)),
    directories=("/run/s/aaaaaaaa", "/run/s/bbbbbbbb", "/run/s/cccccccc"),
    scratch=(("/s/1", "1" * 32), ("/s/2", "2" * 32), ("/s/3", "3" * 32)),
)


def found(seen: Seen = SEEN, **changes: Any) -> list[Trace]:
    told: dict[str, Any] = {"notes": [LIVING, DEAD], "views": [], "gone": {DEAD.attempt}}
    return traces(seen, now_ms=NOW_MS, **(told | changes))


def test_nothing_of_a_living_keeper_is_told_of() -> None:
    named = {trace.what for trace in found()}

    assert not named & {"1" * 32, "/cg/1", LIVING.attempt, LIVING.directory, "/s/1"}


def test_everything_of_a_dead_keeper_is_an_orphan_with_its_age() -> None:
    dead = [trace for trace in found() if trace.proven]

    assert [trace.kind for trace in dead] == [
        TraceKind.SANDBOX, TraceKind.CGROUP, TraceKind.RUN, TraceKind.DIRECTORY, TraceKind.SCRATCH,
    ]  # fmt: skip
    assert {trace.attempt for trace in dead} == {DEAD.attempt}
    assert {trace.age_s for trace in dead} == {(NOW_MS - DEAD.begun_at_ms) // 1000}


def test_what_no_note_speaks_of_is_named_and_not_proved() -> None:
    unknown = [trace for trace in found() if not trace.proven]

    assert {trace.what for trace in unknown} == {"3" * 32, "/cg/3", "/run/s/cccccccc", "/s/3"}


def test_an_open_attempt_of_another_launcher_is_not_ours_to_end() -> None:
    foreign = a_view("c" * 12 + ".1", directory="/run/s/cccccccc")
    runs = [trace for trace in found(views=[foreign]) if trace.attempt == foreign.id]

    assert [(trace.kind, trace.proven) for trace in runs] == [(TraceKind.RUN, False)]
    assert not [trace for trace in found(views=[foreign]) if trace.what == foreign.directory]


def test_a_dead_keepers_attempt_with_a_result_needs_no_ending() -> None:
    seen = Seen(results=frozenset({DEAD.attempt}))

    assert found(seen) == []


def test_an_attempt_that_ended_without_its_broker_is_closed_there_later() -> None:
    ended = msgspec.structs.replace(DEAD, ended_at_ms=5)
    seen = Seen(results=frozenset({DEAD.attempt}))

    assert found(seen, notes=[ended], views=[a_view(DEAD.attempt)])[0].kind is TraceKind.RUN
    assert found(seen, notes=[ended], views=[]) == []


def test_what_an_ended_keeper_could_not_remove_is_an_orphan() -> None:
    ended = msgspec.structs.replace(DEAD, ended_at_ms=5)
    seen = Seen(scratch=(("/s/2", "2" * 32),))

    assert [trace.proven for trace in found(seen, notes=[ended])] == [True]
