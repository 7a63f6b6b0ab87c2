"""The real OpenCode under a provider that refuses: for a while, for too long, for good."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.rehearsal_process import rehearsing, script_in
from fakes.small_tasks import Stanchion, small_task
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult

pytestmark = [
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(400),
]

KEY = "sk-of-the-lab-0123456789"
TASK = '[environment]\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = {agent_s}\n'
WROTE_IT = """\
out=/logs/verifier/reward.txt
if test -f /work/one.txt; then echo 1 > $out; else echo 0 > $out; fi
"""
WRITES = """
[[turn]]
text = "I write the file."
{first}
[[turn.tool]]
name = "bash"
arguments = {{ command = "echo one > /work/one.txt", description = "write it" }}
[[turn]]
text = "All is done."
{last}
"""


def script(*, first: str = "", last: str = "") -> str:
    """A task of two turns, either of which may fail."""
    return "version = 1\n" + WRITES.format(first=first, last=last)


def busy(*, retry_after: int, times: int | None) -> str:
    count = "" if times is None else f", times = {times}"
    return f'fault = {{ kind = "status", status = 429, retry_after = {retry_after}{count} }}'


@dataclass(frozen=True)
class Lab:
    """`stanchion` with a profile of its own whose account is a rehearsal."""

    stanchion: Stanchion
    folder: Path

    def configure(self, port: int, *, max_wait_s: int = 1200) -> None:
        self.write_key(KEY)
        (self.folder / "stanchion.toml").write_text(
            f"""
version = 1
[profiles.evals]
watchdog = {{ max_wait_s = {max_wait_s} }}
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:key"
allow_plain_http = true
"""
        )

    def write_key(self, key: str) -> None:
        file = self.folder / "key"
        file.write_text(f"{key}\n")
        file.chmod(0o600)

    def task(self, *, agent_s: int = 120) -> Path:
        return small_task(self.folder / "task", tests=WROTE_IT, toml=TASK.format(agent_s=agent_s))

    def run(self, task: Path) -> AttemptResult:
        return self.stanchion.run(task, "--harness", "opencode", "--model", "lab/scripted-1")


@pytest.fixture
def lab(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    runsc: RunscInfo, tmp_path: Path,
) -> Iterator[Lab]:  # fmt: skip
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    command = Stanchion(tmp_path, state)
    yield Lab(command, tmp_path)
    command("broker", "stop", "--state-dir", str(state))


def receipts(result: AttemptResult, kind: str) -> list[dict[str, object]]:
    assert result.receipts.bundle is not None
    lines = Path(result.receipts.bundle).read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["type"] == kind]


def test_a_burst_of_429_is_waited_out_and_shown(lab: Lab, tmp_path: Path) -> None:
    with rehearsing(script_in(tmp_path, script(first=busy(retry_after=2, times=2)))) as port:
        lab.configure(port)
        result = lab.run(lab.task())

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert (result.score, result.receipts.exchanges) == (1.0, 2)
    assert [record["status"] for record in receipts(result, "exchange.try")] == [429, 429]
    assert [record["tries"] for record in receipts(result, "exchange.end")] == [3, 1]
    assert result.stages.held_s is not None
    assert result.stages.held_s >= 3
    bundle = str(result.receipts.bundle)
    code, output, errors = lab.stanchion("audit", bundle)
    assert code == 0, errors
    assert b"2 logical, 4 sendings" in output
    assert b"paced         held" in output


def test_a_hold_longer_than_the_agents_deadline_ends_nothing(lab: Lab, tmp_path: Path) -> None:
    with rehearsing(script_in(tmp_path, script(first=busy(retry_after=50, times=1)))) as port:
        lab.configure(port)
        result = lab.run(lab.task(agent_s=45))

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    assert result.stages.held_s is not None
    assert result.stages.agent_s is not None
    assert result.stages.agent_s > result.stages.held_s > 45


@pytest.mark.parametrize("wrote", [False, True])
def test_429_beyond_the_longest_wait_is_no_wrong_answer(
    lab: Lab, tmp_path: Path, *, wrote: bool
) -> None:
    """Withheld; but what the agent had earned before stays."""
    fault = busy(retry_after=2, times=None)
    text = script(last=fault) if wrote else script(first=fault)
    with rehearsing(script_in(tmp_path, text)) as port:
        lab.configure(port, max_wait_s=3)
        result = lab.run(lab.task())

    assert result.outcome.reason is EndReason.RATE_LIMITED
    assert "max_wait_s is 3" in result.outcome.detail
    assert result.score == (1.0 if wrote else None)
    (end,) = (end for end in receipts(result, "exchange.end") if end["gave_up"] is not None)
    assert (end["tries"], end["retry_after_asked_ms"], end["retry_after_sent_ms"]) == (
        2, 2000, 2000,
    )  # fmt: skip


def test_a_refused_key_ends_the_attempt_and_nothing_starts_until_it_is_set_again(
    lab: Lab, tmp_path: Path
) -> None:
    fault = 'fault = { kind = "status", status = 401, message = "bad key", times = 1 }'
    with rehearsing(script_in(tmp_path, script(first=fault))) as port:
        lab.configure(port)
        task = lab.task()
        refused = lab.run(task)
        assert refused.outcome.reason is EndReason.PROVIDER_REFUSED, refused.outcome.detail
        assert refused.score is None
        model = ("--harness", "opencode", "--model", "lab/scripted-1")
        code, _, errors = lab.stanchion("run", task, *model)
        assert code != 0
        assert "lab refused the key of evals/lab (401 auth" in errors
        assert "stanchion key set evals/lab" in errors
        lab.write_key(KEY + "-new")
        good = lab.run(task)
    assert (good.outcome.reason, good.score) == (EndReason.COMPLETED, 1.0)
