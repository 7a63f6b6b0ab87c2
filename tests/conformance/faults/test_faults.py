"""The fault matrix: every row ends as it must, by the real product.

`make faults` plays all of it and prints the table; the rows of its short form run with every
change.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.faults import sandboxed_play, scripted_play
from conformance.faults.outcome_seen import Judged
from conformance.faults.rows import Harness, Row, read_rows
from conformance.faults.sandboxed_play import Lab, free_port
from conformance.faults.table import note
from fakes.small_tasks import Stanchion
from functional.broker.live import LiveBroker, live_broker
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo

MARKS = [pytest.mark.faults, pytest.mark.timeout(300)]


def rows(harness: Harness) -> list[object]:
    """As parameters; those outside of the short form are for `make faults`."""
    return [
        pytest.param(row, id=row.name, marks=() if row.short else MARKS)
        for row in read_rows()
        if row.harness is harness
    ]


@pytest.fixture(scope="module")
def broker() -> Iterator[LiveBroker]:
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as live:
        yield live


@pytest.mark.parametrize("row", rows(Harness.SCRIPTED))
async def test_scripted(row: Row, broker: LiveBroker, tmp_path: Path) -> None:
    (tmp_path / "attempt").mkdir()
    judge(Judged(row, await scripted_play.play(row, broker, tmp_path)))


@pytest.fixture(scope="module")
def lab(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    runsc: RunscInfo,
) -> Iterator[Lab]:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        state = Path(folder) / "state"
        state.mkdir()
        (state / "cache").symlink_to(cache_dir)
        made = Lab(Stanchion(Path(folder), state), free_port())
        made.configure()
        yield made
        made.stanchion("broker", "stop", "--state-dir", str(state))


@pytest.mark.sandbox
@pytest.mark.harness
@pytest.mark.timeout(300)
@pytest.mark.parametrize("row", rows(Harness.OPENCODE))
def test_opencode(row: Row, lab: Lab, tmp_path: Path) -> None:
    judge(Judged(row, sandboxed_play.play(row, lab, tmp_path)))


@pytest.mark.sandbox
@pytest.mark.harness
@pytest.mark.timeout(300)
@pytest.mark.other_harness
@pytest.mark.parametrize("row", rows(Harness.CLAUDE_CODE))
def test_claude_code(row: Row, lab: Lab, claude_code: HarnessPackage, tmp_path: Path) -> None:
    assert claude_code.path.exists()
    judge(Judged(row, sandboxed_play.play(row, lab, tmp_path)))


def judge(judged: Judged) -> None:
    """On the table first, so that a wrong row is there too."""
    note(judged)
    assert not judged.wrong, judged.seen
