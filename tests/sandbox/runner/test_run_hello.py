"""`stanchion run` on the hello task: real broker, sandbox and OpenCode, scripted model."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from fakes.file_there import until_there
from fakes.whole_trajectory import assert_whole_trajectory
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.harness, pytest.mark.timeout(180)]

TIMEOUT_S = 150
SECRET = "sk-of-the-caller-0123456789"
STRICT = """
version = 1
[profiles.strict]
limit_policy = "explicit"
[profiles.strict.accounts.local]
api = "openai_chat"
base_url = "http://127.0.0.1:9/v1"
credential = "none"
allow_plain_http = true
"""


@dataclass(frozen=True)
class Command:
    """`stanchion` in a folder and a state folder of its own."""

    folder: Path
    state: Path

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        given = {"STANCHION_STATE": str(self.state), **(environment or {})}
        known = {name: text for name, text in os.environ.items() if name != "STANCHION_CONFIG"}
        return subprocess.Popen(
            [sys.executable, "-m", "stanchion.runner", *arguments],
            cwd=self.folder,
            env=known | given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str) -> tuple[int, bytes, str]:
        with self.start(*arguments) as process:
            try:
                output, errors = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, output, errors.decode()

    def hello(self, *more: str) -> tuple[int, AttemptResult]:
        code, output, errors = self(*HELLO, "--json", *more)
        assert output.count(b"\n") == 1, errors
        return code, decode(output, AttemptResult)


HELLO = (
    *("run", str(example_task("hello")), "--harness", "opencode"),
    *("--model", "rehearsal/scripted-1"),
)


@pytest.fixture(scope="module")
def state(
    cache_dir: Path,
    bundle: Bundle,
    base_image: BaseImage,
    opencode: HarnessPackage,
    runsc: RunscInfo,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """A state folder with the shared cache and a broker that ends with these tests."""
    folder = tmp_path_factory.mktemp("state")
    (folder / "cache").symlink_to(cache_dir)
    yield folder
    Command(folder, folder)("broker", "stop", "--state-dir", str(folder))


@pytest.fixture
def stanchion(state: Path, tmp_path: Path) -> Command:
    return Command(tmp_path, state)


def test_a_run_is_graded_and_says_all_of_it_in_one_document(stanchion: Command) -> None:
    code, result = stanchion.hello("--effort", "max", "-o", "out")

    assert (code, result.outcome.reason, result.outcome.flags) == (0, "completed", ())
    assert (result.grade, result.score, result.reward) == ("graded", 1.0, {"reward": 1.0})
    limit = result.limits.output_tokens
    assert (limit.declared, limit.source) == (128_000, "default")
    assert (limit.written, limit.observed) == (128_000, (128_000,))
    assert (result.effort.requested, result.effort.written) == ("max", "max")
    assert result.effort.observed == ("max",)
    assert result.reasoning_present is True
    assert result.usage.input_tokens is not None
    assert (result.sandbox.isolation, result.sandbox.network) == ("M2", "none")
    assert (result.sandbox.limits_enforced, result.sandbox.oom_kills) == (True, 0)
    assert all(value is not None for value in (result.stages.agent_s, result.stages.total_s))
    folder = stanchion.folder / "out"
    attempt = folder / "attempts" / "hello__1"
    assert result.receipts.bundle == str(attempt / "receipts.bundle")
    assert sorted(path.name for path in folder.iterdir()) == [
        "attempts", "job.json", "job.receipts", "results.jsonl", "summary.json", "summary.txt",
    ]  # fmt: skip
    assert (attempt / "artifacts/work/hello.txt").read_text() == "Hello from inside the sandbox.\n"
    assert (attempt / "verifier" / "reward.txt").read_text().strip() == "1"
    assert (attempt / "transcript.jsonl").read_bytes().count(b"\n") > 3
    assert_whole_trajectory(result)
    code, shown, _ = stanchion("show", "out", "--json")
    assert (code, decode(shown, AttemptResult)) == (0, result)
    code, audited, errors = stanchion("audit", "out", "--require", "effort=max")
    assert code == 0, audited.decode() + errors
    code, _, errors = stanchion(*HELLO, "-o", "out")
    assert (code, "holds results" in errors) == (2, True)


@pytest.mark.parametrize("limit", [8_000, 64_000, 200_000])
def test_a_launch_limit_is_on_the_wire_exactly(stanchion: Command, limit: int) -> None:
    code, result = stanchion.hello("--output-limit", str(limit))

    seen = result.limits.output_tokens
    assert (code, seen.source) == (0, "launch")
    assert (seen.declared, seen.written, seen.observed) == (limit, limit, (limit,))


def test_the_key_is_in_no_file_that_a_run_leaves(stanchion: Command) -> None:
    stanchion.hello("-o", "out")

    places = [*stanchion.folder.rglob("*"), *(stanchion.state / "broker").rglob("*")]
    files = [path for path in places if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if b"sk-rehearsal-" in path.read_bytes()] == []


def test_a_policy_that_wants_a_limit_refuses_before_anything_starts(
    stanchion: Command, tmp_path: Path
) -> None:
    (tmp_path / "stanchion.toml").write_text(STRICT)
    arguments = [word.replace("rehearsal/scripted-1", "local/some") for word in HELLO]
    code, output, errors = stanchion(*arguments, "-o", "out", "--json")

    assert (code, errors.count("error: ")) == (78, 1)
    document: dict[str, Any] = json.loads(output)
    assert document["error"]["id"] == "limit_undeclared"
    assert not (tmp_path / "out").exists()


def test_an_unknown_effort_is_a_usage_error(stanchion: Command) -> None:
    code, output, errors = stanchion(*HELLO, "--effort", "loud")

    assert (code, output) == (2, b"")
    assert "xhigh" in errors


def test_the_spec_can_be_seen_without_a_start(stanchion: Command) -> None:
    code, output, _ = stanchion(*HELLO, "--print-spec", "--output-limit", "9000")

    assert code == 0
    assert json.loads(output)["limits"]["output_tokens"] == {"source": "launch", "value": 9000}
    assert not (stanchion.folder / "stanchion-runs").exists()


def test_the_commands_own_timeout_cancels(stanchion: Command) -> None:
    code, result = stanchion.hello("--timeout", "2")

    assert (code, result.outcome.reason, result.score) == (124, "cancelled", None)


def test_no_process_of_a_run_holds_the_callers_secrets(stanchion: Command) -> None:
    """The keeper and all it starts; the broker may read a credential from its environment."""
    with stanchion.start(*HELLO, "-o", "out", environment={"SOME_API_KEY": SECRET}) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"spawn"):
                break
        holders = [
            found.cmdline()[:4]
            for found in psutil.process_iter()
            if found.pid != process.pid and SECRET in _environment(found)
        ]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT_S)
    assert [words for words in holders if "stanchion.broker" not in words] == []


def _environment(process: psutil.Process) -> str:
    try:
        return " ".join(process.environ().values())
    except psutil.Error:
        return ""


def test_an_interrupt_cancels_and_withholds_the_score(stanchion: Command) -> None:
    with stanchion.start(*HELLO, "-o", "out") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"spawn"):
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 130, errors
    (result,) = (stanchion.folder / "out" / "attempts").glob("*/result.json")
    said = decode(result.read_bytes(), AttemptResult)
    assert (said.outcome.reason, said.score) == ("cancelled", None)
    assert b"cancelled" in output


def test_an_attempt_outlives_the_command_that_started_it(stanchion: Command) -> None:
    with stanchion.start(*HELLO, "-o", "out") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"spawn"):
                process.kill()
                break
    code, _, _ = stanchion("broker", "status", "--state-dir", str(stanchion.state))
    assert code == 0
    result = stanchion.folder / "out" / "attempts" / "hello__1" / "result.json"
    until_there(result, timeout_s=TIMEOUT_S)

    assert decode(result.read_bytes(), AttemptResult).score == 1.0
