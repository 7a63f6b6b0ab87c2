"""`stanchion demo`: everything holds, and it says so; and what would not hold is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.runner.test_run_hello import Command

from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.results.job_folder import read_results


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
