"""What the demo expects, and how it names what did not hold."""

from pathlib import Path

from tests.fakes.results import a_result

from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.preflight import NeedId
from stanchion.protocol.outcome import EndReason
from stanchion.runner.demo.audit_call import AuditVerdict
from stanchion.runner.demo.demo_run import KeyWatch, _origin, expect_killed, expect_whole
from stanchion.runner.demo.key_scan import Scan
from stanchion.runner.launching.pieces import ReadyPieces

VERIFIED = AuditVerdict(verified=True, records=14, words="verified")


def watched(*scans: Scan) -> KeyWatch:
    watch = KeyWatch.__new__(KeyWatch)
    watch.scans = list(scans)
    return watch


def test_all_looks_count_and_one_that_was_blind_makes_the_sum_unknown() -> None:
    assert watched(Scan(0, 10), Scan(0, 20)).places == 0
    assert watched(Scan(1, 10), Scan(0, 20)).places == 1
    blind = watched(Scan(0, 10), Scan(None, 0, "no process"))
    assert (blind.places, blind.why) == (None, "no process")
    assert watched().places is None


def test_a_sandbox_that_is_gone_is_no_blind_look_but_one_look_must_have_met_it() -> None:
    gone = Scan(None, 0, "no process", gone=True)
    assert watched(Scan(0, 10), gone).places == 0
    assert watched(gone).places is None


def test_what_does_not_hold_is_named() -> None:
    assert expect_whole(a_result(), watched(Scan(0, 1)), VERIFIED) == []
    bad = expect_whole(
        a_result(EndReason.OOM, score=None),
        watched(Scan(None, 0, "blind")),
        AuditVerdict(verified=False, records=None, words="tampered"),
    )
    assert bad == [
        "the attempt ended completed (it ended oom, as it went)",
        "its score is 1",
        "the key is nowhere in the sandbox",
        "the receipts verify",
    ]


def test_a_killed_agent_with_a_score_is_named() -> None:
    assert expect_killed(a_result(EndReason.HARNESS_SIGNAL, score=None)) == []
    assert len(expect_killed(a_result(score=0.0))) == 2


def test_a_piece_says_whether_it_was_fetched_just_now() -> None:
    there = HarnessPackage(Path("/h"), "d", "opencode", "1", "b", 1, cached=True)
    pieces = ReadyPieces(
        runsc=None,
        base=None,
        bundle=Bundle(Path("/b"), "d", 1, cached=True),
        harness=there,
        fetched=frozenset({NeedId.BASE}),
    )
    assert _origin(pieces, NeedId.HARNESS) == " (cached)"
    assert _origin(pieces, NeedId.BASE) == " (fetched now)"
