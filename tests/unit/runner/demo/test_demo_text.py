"""The demo's evidence as text."""

from tests.fakes.results import a_result

from stanchion.protocol.admin import EffortSeen
from stanchion.protocol.outcome import Grade
from stanchion.runner.demo.audit_call import AuditVerdict
from stanchion.runner.demo.demo_text import Seen, evidence_lines

VERIFIED = AuditVerdict(verified=True, records=14, words="verified (key 7C:19)")
SEEN = Seen(responses=6, places=0, places_why="", bundle="out/receipts.bundle", memory_mb=2048)


def test_a_good_attempt_says_ok_twice() -> None:
    lines = evidence_lines(a_result(), SEEN, VERIFIED)

    assert "gVisor M2, no network, 2.0 GB · 6 model responses · 5.2 s" in lines[0]
    assert "out/receipts.bundle · 14 records · verified (key 7C:19)" in lines[1]
    assert [line.split()[-1] for line in lines[3:5]] == ["ok", "ok"]
    assert lines[5].endswith("tests passed · score 1 · real key found in the sandbox: 0 places")


def test_a_difference_is_said_as_one() -> None:
    effort = EffortSeen(requested="max", written="max", observed=("max", "low"))
    lines = evidence_lines(a_result(effort=effort), SEEN, VERIFIED)

    assert lines[4].split()[-3:] == ["max,", "low", "DIFFERS"]


def test_a_look_that_was_not_possible_is_no_zero() -> None:
    blind = Seen(responses=0, places=None, places_why="no such process", bundle="b", memory_mb=1)
    result = a_result(score=None, reward=None, grade=Grade.NOT_RUN)
    lines = evidence_lines(result, blind, VERIFIED)

    assert "unknown: no such process" in lines[5]
    assert "tests: not_run" in lines[5]


def test_failed_tests_are_said() -> None:
    assert "tests failed" in evidence_lines(a_result(score=0.0), SEEN, VERIFIED)[5]
