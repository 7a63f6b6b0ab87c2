"""`stanchion run` with more than one attempt, in real sandboxes, without a model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.runner.test_run_hello import Command

from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]

HELLO = str(example_task("hello"))
ORACLE = ("run", HELLO, "--harness", "oracle", "-k", "2", "-n", "2", "-o", "out")


@pytest.fixture
def stanchion(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, runsc: RunscInfo, tmp_path: Path
) -> Iterator[Command]:
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    command = Command(tmp_path, state)
    yield command
    command("broker", "stop", "--state-dir", str(state))


def test_a_job_is_planned_run_shown_and_resumed_as_it_was(stanchion: Command) -> None:
    code, planned, errors = stanchion(*ORACLE, "--dry-run", "--json")
    assert code == 0, errors
    assert not (stanchion.folder / "out").exists()
    code, output, errors = stanchion(*ORACLE, "--json")
    assert code == 0, errors
    document = json.loads(output)
    frozen = json.loads((stanchion.folder / "out" / "job.json").read_text())
    assert json.loads(planned)["sha256"] == document["sha256"] == frozen["sha256"]
    assert [one["score"] for one in document["attempts"]] == [1.0, 1.0]
    assert (document["summary"]["coverage"], document["stopped"]) == (1.0, None)

    code, again, errors = stanchion("run", "--resume", "out", "--json")
    assert (code, json.loads(again)["attempts"]) == (0, document["attempts"]), errors
    code, _, errors = stanchion("run", "--resume", "out", "-k", "3")
    assert (code, "-k: 2 -> 3" in errors) == (2, True)
    code, _, errors = stanchion(*ORACLE)
    assert (code, "holds results" in errors) == (2, True)
    code, table, _ = stanchion("status", "out")
    assert (code, b"hello__2  completed  score 1" in table) == (0, True)
    assert stanchion("audit", "out")[0] == 0
