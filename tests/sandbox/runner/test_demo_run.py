"""`stanchion demo`: everything holds, and it says so; and what would not hold is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.results import a_result
from tests.sandbox.runner.test_run_hello import Command

from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.outcome import EndReason
from stanchion.runner.demo.audit_call import AuditVerdict
from stanchion.runner.demo.demo_run import KeyWatch, expect_killed, expect_whole
from stanchion.runner.demo.key_scan import Scan
from stanchion.runner.results.job_folder import read_results

VERIFIED = AuditVerdict(verified=True, records=14, words="verified")


@pytest.fixture
def stanchion(
    cache_dir: Path,
    bundle: Bundle,
    base_image: BaseImage,
    opencode: HarnessPackage,
    runsc: RunscInfo,
    tmp_path: Path,
) -> Iterator[Command]:
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    command = Command(tmp_path, state)
    yield command
    command("broker", "stop", "--state-dir", str(state))


@pytest.mark.sandbox
@pytest.mark.harness
@pytest.mark.timeout(300)
def test_the_demo_holds_from_start_to_end(stanchion: Command) -> None:
    code, output, errors = stanchion("demo")
    text = output.decode()

    assert code == 0, text + errors
    assert [line[:5] for line in text.splitlines() if line.startswith("[")] == [
        f"[{step}/5]" for step in range(1, 6)
    ]
    assert text.count("   ok\n") == 2
    assert "tests passed · score 1 · real key found in the sandbox: 0 places" in text
    assert "ended harness_signal" in text
    whole, killed = read_results(stanchion.folder / "stanchion-runs" / "demo")
    assert (whole.outcome.reason, whole.score) == ("completed", 1.0)
    assert (killed.outcome.reason, killed.score) == ("harness_signal", None)
    assert killed.reward == {"reward": 0.0}


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
