"""The recorded evidence of every row: what the rules make of it, and what worse rules would."""

from collections.abc import Callable

import pytest

from conformance.faults.recording import FOLDER, Recording, evidence_of, read
from conformance.faults.rows import Kind, Row, read_rows
from stanchion.protocol.evidence import Evidence as AttemptEvidence
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.outcome import MEANING, EndReason, Grade, Outcome, classify, gate
from stanchion.supervisor.evidence import (
    Evidence,
    RequestEnded,
    RequestStarted,
    Step,
    StreamAlive,
    Tick,
)
from stanchion.supervisor.progress import Progress
from stanchion.supervisor.watchdog import Watchdog

ROWS = {row.name: row for row in read_rows() if row.expected.reason is not EndReason.BROKER_LOST}
"""Where the broker stays away the keeper alone decides, and there is no broker to ask."""
RECORDED = {name: read(row) for name, row in ROWS.items()}
TAPED = {name: found.tape for name, found in RECORDED.items() if found.tape is not None}
TICK_MS = 100
Rule = Callable[[AttemptEvidence], Outcome]


def ended(row: Row, recording: Recording, rule: Rule) -> tuple[EndReason, float | None]:
    outcome = rule(recording.evidence)
    return outcome.reason, gate(outcome, recording.graded, untouched_reward=0.0).value


def wrong(rule: Rule) -> list[str]:
    """Rows of which the rule makes another ending or score than the right one."""
    return [
        name
        for name, row in ROWS.items()
        if ended(row, RECORDED[name], rule) != (row.expected.reason, row.expected.score)
    ]


def test_every_ending_and_every_grade_has_a_row() -> None:
    rows = read_rows()
    assert {row.expected.reason for row in rows} == set(EndReason)
    assert {row.expected.grade for row in rows} == set(Grade)


def test_every_row_is_recorded_and_nothing_else() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(ROWS)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_evidence_leads_to_the_ending(name: str) -> None:
    row, recording = ROWS[name], RECORDED[name]
    expected = (row.expected.reason, row.expected.score)
    assert ended(row, recording, classify) == expected
    outcome = classify(recording.evidence)
    assert set(row.expected.flags) <= set(outcome.flags)
    assert (outcome.blame, outcome.retry) == (row.expected.blame, row.expected.retry)


def always_completed(_: AttemptEvidence) -> Outcome:
    return outcome_of(EndReason.COMPLETED)


def trusts_exit_codes(evidence: AttemptEvidence) -> Outcome:
    wait = evidence.claim.wait if evidence.claim else None
    if wait is None:
        return outcome_of(EndReason.SANDBOX_LOST)
    if wait.signal is not None:
        return outcome_of(EndReason.HARNESS_SIGNAL)
    return outcome_of(EndReason.HARNESS_EXIT if wait.exit_code else EndReason.COMPLETED)


def outcome_of(reason: EndReason) -> Outcome:
    meaning = MEANING[reason]
    return Outcome(reason=reason, detail="", blame=meaning.blame, retry=meaning.retry)


@pytest.mark.parametrize("rule", [always_completed, trusts_exit_codes])
def test_a_rule_that_believes_too_much_fails_in_many_rows(rule: Rule) -> None:
    assert wrong(classify) == []
    assert len(wrong(rule)) >= 10, wrong(rule)


class BytesAreProgress(Progress):
    """Counts whatever moves."""

    def observe(self, evidence: Evidence) -> bool:
        super().observe(evidence)
        return isinstance(evidence, RequestStarted | RequestEnded | StreamAlive | Step)


def replayed(name: str, *, progress: type[Progress] = Progress) -> Stop | None:
    """The decision of a watchdog that sees the tape again, with the ticks between."""
    tape = TAPED[name]
    dog = Watchdog(tape.limits, agent_s=tape.agent_s, started_ms=0)
    dog.progress = progress()
    before_ms = 0
    for seen in tape.seen:
        if not seen.jumped:
            ticks(dog, before_ms, seen.at_ms)
        dog.observe(evidence_of(seen), seen.at_ms)
        before_ms = seen.at_ms
    ticks(dog, before_ms, tape.ended_ms + TICK_MS)
    return dog.stop


def ticks(dog: Watchdog, after_ms: int, before_ms: int) -> None:
    for now_ms in range(after_ms + TICK_MS, before_ms, TICK_MS):
        dog.observe(Tick(), now_ms)


def reason_of(stop: Stop | None) -> StopReason | None:
    return None if stop is None else stop.reason


@pytest.mark.parametrize("name", sorted(TAPED))
def test_the_tape_leads_to_the_same_decision(name: str) -> None:
    assert reason_of(replayed(name)) is reason_of(TAPED[name].stop)


def test_a_watchdog_that_counts_bytes_as_progress_fails_in_many_rows() -> None:
    fooled = [
        name
        for name, tape in TAPED.items()
        if reason_of(replayed(name, progress=BytesAreProgress)) is not reason_of(tape.stop)
    ]
    assert len(fooled) >= 10, fooled


def test_no_healthy_row_was_stopped_by_the_watchdog() -> None:
    healthy = [name for name in TAPED if ROWS[name].kind is not Kind.FAULT]
    assert len(healthy) >= 20
    assert [name for name in healthy if TAPED[name].stop is not None] == []
