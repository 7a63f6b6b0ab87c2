"""Tasks without a model, in real sandboxes: checked, and run with what they ask for."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.small_tasks import ORACLE, Stanchion, small_task
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.evidence import AnswerState
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]

ASKS_FOR_MUCH = """
artifacts = ["/work/kept", { source = "/work/other.txt", destination = "as/this.txt" }]
[metadata.stanchion]
answer = ["/work/answer.txt", "/work/never.txt"]
[agent]
timeout_sec = 60
user = "nobody"
[environment]
storage_mb = 512
cpus = 1
env = { SHADE = "${STANCHION_TEST_SHADE}", TONE = "${STANCHION_TEST_TONE:-warm}" }
[verifier]
user = 1000
env = { GREETING = "hello" }
[solution.env]
HINT = "look up"
"""
SOLVES = """#!/bin/bash
set -eu
echo "$(id -u) $SHADE $TONE $HINT" > /work/answer.txt
mkdir -p /work/kept/deep && echo kept > /work/kept/deep/file && ln -s /etc/passwd /work/kept/link
echo other > /work/other.txt
echo published > /logs/artifacts/published
"""
GRADES = """#!/usr/bin/python3
import os, pathlib
answer = pathlib.Path("/work/answer.txt").read_text().split()
right = answer == ["65534", "dark", "warm", "look", "up"]
right &= (os.getuid(), os.environ["GREETING"], "SHADE" in os.environ) == (1000, "hello", False)
pathlib.Path("/logs/verifier/reward.json").write_text('{"reward": %d, "style": 0.5}' % right)
"""


@pytest.fixture(scope="module")
def state(
    cache_dir: Path,
    bundle: Bundle,
    base_image: BaseImage,
    runsc: RunscInfo,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("state")
    (folder / "cache").symlink_to(cache_dir)
    yield folder
    Stanchion(folder, folder)("broker", "stop", "--state-dir", str(folder))


@pytest.fixture
def stanchion(state: Path, tmp_path: Path) -> Stanchion:
    return Stanchion(tmp_path, state)


def test_the_solution_of_an_example_earns_its_reward_and_nothing_does_not(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    code, output, errors = stanchion(
        "task", "check", example_task("hello"), "--json", "-o", tmp_path / "kept"
    )
    assert code == 0, errors
    (checked,) = json.loads(output)["tasks"]
    assert (checked["ok"], checked["untouched_reward"]) == (True, 0.0)
    assert checked["solution"]["reward"] == {"reward": 1.0}
    assert checked["solution"]["reason"] == checked["nothing"]["reason"] == "completed"
    result = json.loads(Path(checked["solution"]["folder"], "result.json").read_text())
    assert result["receipts"]["exchanges"] == 0
    assert result["answers"][0]["state"] == "present"


def test_what_a_task_asks_for_it_gets(stanchion: Stanchion, tmp_path: Path) -> None:
    task = small_task(tmp_path / "much", tests=GRADES, solve=SOLVES, toml=ASKS_FOR_MUCH)
    shade = {"STANCHION_TEST_SHADE": "dark"}
    result = stanchion.run(task, *ORACLE, "-o", "out", environment=shade)

    assert (result.grade, result.score) == ("graded", 1.0), result.why
    assert result.reward == {"reward": 1.0, "style": 0.5}
    assert result.outcome.flags == ("answer_absent",)
    assert [answer.state for answer in result.answers or ()] == [
        AnswerState.PRESENT, AnswerState.ABSENT,
    ]  # fmt: skip
    artifacts = tmp_path / "out/attempts/much__1/artifacts"
    files = {str(path.relative_to(artifacts)) for path in artifacts.rglob("*") if path.is_file()}
    assert files == {
        "as/this.txt", "logs/artifacts/published", "work/answer.txt", "work/kept/deep/file",
    }  # fmt: skip
    assert result.sandbox.storage_mb is None
    assert "512 MB" in result.why["sandbox.storage_mb"]
    assert "public network" in result.why["sandbox.network"]
    assert "STANCHION_TEST_SHADE of this host" in result.why["environment.env.SHADE"]
