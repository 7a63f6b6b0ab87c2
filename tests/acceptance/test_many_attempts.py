"""Many attempts with the real OpenCode: things fail, the command is killed, a key is wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fakes.file_there import until_so
from fakes.rehearsal_process import rehearsing, script_in
from fakes.small_tasks import Stanchion, small_task
from stanchion.runner.demo.demo_run import KILLED_SCRIPT
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    pytest.mark.usefixtures("opencode"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(900),
]

KEY = "sk-of-the-lab-0123456789"
PATIENCE_S = 600
OPENCODE = ("--harness", "opencode", "--model")
SAYS_HELLO = """
version = 1
[[turn]]
text = "I write the file."
[[turn.tool]]
name = "bash"
arguments = { command = "echo one > /work/one.txt", description = "write it" }
[[turn]]
text = "All is done."
"""
WROTE_IT = """\
out=/logs/verifier/reward.txt
if test -f /work/one.txt; then echo 1 > $out; else echo 0 > $out; fi
"""


@pytest.fixture
def tasks(tmp_path: Path) -> list[Path]:
    """The three examples: one with a burst of 429, one whose harness dies half-way."""
    folders = []
    for name in ("hello", "fix-bug", "long-think"):
        folder = tmp_path / "tasks" / name
        shutil.copytree(example_task(name), folder)
        folders.append(folder)
    hello, fix_bug, _ = folders
    script = (hello / "rehearsal.toml").read_text()
    burst = '[[turn]]\nfault = { kind = "status", status = 429, retry_after = 1, times = 2 }\n'
    (hello / "rehearsal.toml").write_text(script.replace("[[turn]]\n", burst, 1))
    shutil.copy(KILLED_SCRIPT, fix_bug / "rehearsal.toml")
    return folders


def started(stanchion: Stanchion, *arguments: str | Path) -> "subprocess.Popen[bytes]":
    with (stanchion.folder / "said.txt").open("ab") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "stanchion.runner", *arguments],
            cwd=stanchion.folder,
            env={**os.environ, "STANCHION_STATE": str(stanchion.state)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )


def wait_for_results(folder: Path, number: int) -> None:
    """Until so many attempts have ended."""
    until_so(
        lambda: len(list(folder.glob("attempts/*/result.json"))) >= number,
        folder,
        timeout_s=PATIENCE_S,
    )


def of_broker(stanchion: Stanchion) -> list[dict[str, Any]]:
    """All attempts that the broker ever opened."""
    code, output, errors = stanchion("ps", "--all", "--json")
    assert code == 0, errors
    return list(json.loads(output))


def test_nine_attempts_survive_faults_and_a_killed_command(
    stanchion: Stanchion, tasks: list[Path]
) -> None:
    out = stanchion.folder / "out"
    command = ("run", *tasks, *OPENCODE, "rehearsal/scripted-1", "-k", "3", "-n", "2", "-o", "out")
    with started(stanchion, *command) as process:
        wait_for_results(out, 4)
        process.send_signal(signal.SIGKILL)
    before = {file: file.read_bytes() for file in out.glob("attempts/*/result.json")}
    assert 4 <= len(before) < 9

    with started(stanchion, "run", "--resume", "out") as process:
        code = process.wait(PATIENCE_S)
    said = (stanchion.folder / "said.txt").read_text()
    assert code == 1, said  # three scores are withheld

    assert all(file.read_bytes() == content for file, content in before.items())
    results = [json.loads(line) for line in (out / "results.jsonl").read_bytes().splitlines()]
    assert len(results) == 9, said
    ended = Counter((one["task"], one["outcome"]["reason"], one["score"]) for one in results)
    assert ended == {
        ("hello", "completed", 1.0): 3,
        ("fix-bug", "harness_signal", None): 3,
        ("long-think", "completed", 1.0): 3,
    }
    held = [one["stages"]["held_s"] for one in results if one["task"] == "hello"]
    assert all(seconds >= 1 for seconds in held)
    opened = Counter(view["id"] for view in of_broker(stanchion))
    assert len(opened) == 9, "every attempt was opened once"
    assert set(opened.values()) == {1}
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["planned"], summary["scored"], summary["not_started"]) == (9, 6, 0)
    assert summary["withheld"] == {"harness_signal": 3}
    assert (summary["coverage"], summary["mean_over_scored"]) == (6 / 9, 1.0)
    assert summary["tasks"]["fix-bug"]["mean_over_scored"] is None
    code, table, errors = stanchion("status", "out")
    assert code == 0, errors
    assert b"coverage          0.667" in table
    code, audited, errors = stanchion("audit", "out", "--json")
    assert code == 0, audited.decode() + errors
    shutil.rmtree(out / "attempts" / "hello__2")
    assert stanchion("audit", "out")[0] == 3


def configure(folder: Path, port: int) -> None:
    write_key(folder, "sk-mistyped-000000000")
    (folder / "stanchion.toml").write_text(
        f"""
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:key"
allow_plain_http = true
"""
    )


def write_key(folder: Path, key: str) -> None:
    file = folder / "key"
    file.write_text(f"{key}\n")
    file.chmod(0o600)


def test_a_wrong_key_stops_150_attempts_after_as_many_as_run_at_a_time(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    task = small_task(tmp_path / "task", tests=WROTE_IT)
    with rehearsing(script_in(tmp_path, SAYS_HELLO), key=KEY) as port:
        configure(tmp_path, port)
        code, _, errors = stanchion(
            "run", task, *OPENCODE, "lab/scripted-1", "-k", "150", "-n", "2", "-o", "out"
        )

    assert code == 1, errors
    last = errors.strip().splitlines()[-1]
    assert last.startswith("lab refused the key of evals/lab (401 auth"), errors
    assert "attempts ended unscored, 148 not started" in last.replace("attempt ", "attempts ")
    assert last.endswith("Fix: stanchion key set evals/lab, then stanchion run --resume out")
    assert len(of_broker(stanchion)) <= 2
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["planned"], summary["scored"]) == (150, 0)
    assert summary["not_started"] >= 148


def test_with_the_key_mended_the_job_finishes(stanchion: Stanchion, tmp_path: Path) -> None:
    task = small_task(tmp_path / "task", tests=WROTE_IT)
    with rehearsing(script_in(tmp_path, SAYS_HELLO), key=KEY) as port:
        configure(tmp_path, port)
        arguments = ("-k", "3", "-n", "2", "-o", "out")
        code, _, errors = stanchion("run", task, *OPENCODE, "lab/scripted-1", *arguments)
        assert code == 1, errors
        write_key(tmp_path, KEY)
        code, output, errors = stanchion("run", "--resume", "out")

    assert code == 0, output.decode() + errors
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["planned"], summary["scored"], summary["not_started"]) == (3, 3, 0)
    assert set(summary["retried"]) == {"provider_refused"}
    code, _, errors = stanchion("audit", "out")
    assert code == 0, errors
