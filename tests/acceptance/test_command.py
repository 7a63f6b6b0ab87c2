"""A program of the user's own in a real sandbox: told, compared, corrected, graded."""

from pathlib import Path

import pytest

from fakes.small_tasks import GIVES_ONE, Stanchion, small_task
from stanchion.protocol.outcome import EndReason
from stanchion.runner.tasks.examples import example_task

EXAMPLE = Path(__file__).parents[2] / "examples" / "own-program"
SCRIPT = """
import json, os, sys, urllib.error, urllib.request
limit, said = {limit}, []
tools = [{{"type": "function", "function": {{"name": "none", "parameters": {{"type": "object"}}}}}}]
more = {{"model": os.environ["MODEL"], "tools": tools, **limit}}
for text in sys.stdin.read(), "and now?":
    said.append({{"role": "user", "content": text}})
    body = json.dumps({{**more, "messages": said}}).encode()
    sent = urllib.request.Request(os.environ["URL"] + "/v1/chat/completions", body)
    try:
        said.append(json.load(urllib.request.urlopen(sent))["choices"][0]["message"])
    except urllib.error.HTTPError:
        break
"""
TOML = """
name = "script"
version = "2"
dialects = ["openai_chat"]
argv = ["python3", "{{program}}/script.py"]
program = "program"
header_wait_s = 60
stdin = "{{instruction}}"
env = {URL = "{{base_url}}", MODEL = "{{model}}", LIMIT = "{{output_limit}}"}
"""
SAID = '{"max_tokens": int(os.environ["LIMIT"])}'
TURN = '[[turn]]\ntext = "Here it is."\n'
BROKEN = '[[turn]]\nfault = {kind = "status", status = 400}\n'
EMPTY = '[[turn]]\nreasoning = "hm"\nfinish = "stop"\n'

pytestmark = [pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.timeout(300)]


def described(folder: Path, *, limit: str = SAID, toml: str = TOML) -> tuple[str, ...]:
    """Options of a launch of the script above."""
    (folder / "program").mkdir()
    (folder / "program/script.py").write_text(SCRIPT.format(limit=limit))
    (folder / "agent.toml").write_text(toml)
    return ("--command", str(folder / "agent.toml"), "--model", "rehearsal/x")


def test_hello_is_solved_and_the_receipts_audit(stanchion: Stanchion) -> None:
    result = stanchion.run(
        example_task("hello"),
        *("--command", str(EXAMPLE / "agent.toml"), "--model", "rehearsal/x"),
        *("--effort", "xhigh", "--output-limit", "64000"),
    )

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    assert (result.harness.name, result.harness.version) == ("command", "tiny-agent-1")
    limit, effort = result.limits.output_tokens, result.effort
    assert (limit.declared, limit.written, limit.observed) == (64_000, 64_000, (64_000,))
    assert (effort.requested, effort.written, effort.observed) == ("xhigh", "xhigh", ("xhigh",))
    assert result.receipts.bundle is not None
    demands = ("--require", "effort=xhigh", "--require", "output_limit=64000")
    code, output, errors = stanchion("audit", result.receipts.bundle, *demands)
    assert code == 0, output.decode() + errors


def test_a_limit_that_it_cannot_say_is_written_by_the_broker_and_shown_as_corrected(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    toml = TOML.replace(', LIMIT = "{{output_limit}}"', "")
    toml = 'cannot_say = ["output_limit"]\nlimit_field = "max_tokens"\n' + toml
    options = described(tmp_path, limit="{}", toml=toml)
    task = small_task(tmp_path / "task", tests=GIVES_ONE, rehearsal="version = 1\n" + TURN * 2)
    result = stanchion.run(task, *options, "--output-limit", "8000")

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    limit = result.limits.output_tokens
    assert (limit.declared, limit.written, limit.corrected) == (8_000, None, True)
    assert limit.observed == (8_000,)


@pytest.mark.parametrize(
    ("limit", "script", "reason"),
    [
        ('{"max_tokens": 32000}', TURN * 2, EndReason.MISMATCH),
        ("{}", TURN * 2, EndReason.MISMATCH),
        (SAID, TURN + BROKEN, EndReason.SESSION_ERROR),
        (SAID, TURN + EMPTY, EndReason.SESSION_ERROR),
        (SAID, EMPTY * 2, EndReason.NO_RESPONSE),
        (SAID, TURN * 2, EndReason.COMPLETED),
    ],
    ids=["clamps", "drops the limit", "swallows an error", "ends empty", "only empty", "good"],
)
def test_exit_0_is_clean_only_with_the_declared_limit_and_a_last_whole_answer(
    stanchion: Stanchion, tmp_path: Path, limit: str, script: str, reason: EndReason
) -> None:
    options = described(tmp_path, limit=limit)
    task = small_task(tmp_path / "task", tests=GIVES_ONE, rehearsal="version = 1\n" + script)
    result = stanchion.run(task, *options, "--output-limit", "64000")

    assert result.outcome.reason is reason, result.outcome.detail
