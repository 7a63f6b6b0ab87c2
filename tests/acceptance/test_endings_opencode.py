"""How the real OpenCode's attempts end when a model, a provider or the clock is against them.

Each ending has its reason, what its detail rests on, and its score rule.
"""

from pathlib import Path

import pytest

from fakes.small_tasks import OPENCODE, Stanchion, small_task
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult

pytestmark = [
    pytest.mark.usefixtures("opencode"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]

TASK = '[environment]\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = {agent_s}\n'
WROTE_IT = """\
out=/logs/verifier/reward.txt
if test -f /work/one.txt; then echo 1 > $out; else echo 0 > $out; fi
"""
WRITES = """
[[turn]]
text = "I write the file."
[[turn.tool]]
name = "bash"
arguments = { command = "echo one > /work/one.txt", description = "write it" }
"""
SLEEPS = """
[[turn]]
text = "This takes a while."
[[turn.tool]]
name = "bash"
arguments = { command = "sleep 100", description = "wait" }
"""
CUT_THINKING = """
[[turn]]
reasoning = "I think, and think, and"
fault = { kind = "length" }
"""
CUT_CALLS = (
    9
    * """
[[turn]]
text = "I write a long file."
fault = { kind = "length", in_call = true }
[[turn.tool]]
name = "write"
arguments = { filePath = "/work/long.txt", content = "one two three four five six seven" }
"""
)
EMPTY = '\n[[turn]]\nfinish = "stop"\n'
CUT_STREAMS = (
    40
    * """
[[turn]]
text = "I have only begun to say"
fault = { kind = "no_finish" }
"""
)
THINKS_FOR_EVER = '\n[[turn]]\nreasoning = "Let me think"\npause = "forever"\n'


def refuses(status: int, message: str, code: str) -> str:
    fault = f'kind = "status", status = {status}, message = "{message}", error_code = "{code}"'
    return f"\n[[turn]]\nfault = {{ {fault} }}\n"


SMALL_CONTEXT = refuses(
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 128000 output "
    "tokens. Please reduce max_tokens.",
    "invalid_request_error",
)


def attempt(state: Path, folder: Path, *turns: str, agent_s: int = 120) -> AttemptResult:
    task = small_task(
        folder / "task",
        tests=WROTE_IT,
        toml=TASK.format(agent_s=agent_s),
        rehearsal="version = 1\n" + "".join(turns),
    )
    return Stanchion(folder, state).run(task, *OPENCODE)


@pytest.mark.parametrize(
    ("turn", "reason", "words"),
    [
        pytest.param(CUT_THINKING, EndReason.LENGTH_STOP, "its output limit", id="length"),
        pytest.param(
            CUT_CALLS, EndReason.LENGTH_STOP, "3 responses in a row", id="length for ever"
        ),
        pytest.param(EMPTY, EndReason.NO_RESPONSE, "exit 0 without one", id="no response"),
        pytest.param(CUT_STREAMS, EndReason.STALLED_FAILING, "20 failing steps", id="storm"),
        pytest.param(
            SMALL_CONTEXT, EndReason.PROVIDER_REFUSED, "limit_rejected", id="small context"
        ),
    ],
)
@pytest.mark.parametrize("wrote", [False, True])
def test_what_a_provider_did_is_no_wrong_answer(
    state: Path, tmp_path: Path, turn: str, reason: EndReason, words: str, *, wrote: bool
) -> None:
    """Withheld; but what the agent had earned before stays."""
    result = attempt(state, tmp_path, *([WRITES] if wrote else []), turn)

    if wrote and turn == EMPTY:
        reason, words = EndReason.SESSION_ERROR, "stopped with no text"
    assert result.outcome.reason is reason, result.outcome.detail
    assert words in result.outcome.detail
    assert (result.grade, result.score) == ("graded", 1.0 if wrote else None)


def test_a_refused_limit_names_its_mending(state: Path, tmp_path: Path) -> None:
    result = attempt(state, tmp_path, SMALL_CONTEXT)
    assert "128000" in result.outcome.detail
    assert "--output-limit" in result.outcome.detail
    assert result.receipts.exchanges == 1


def test_a_storm_is_stopped_long_before_the_clock(state: Path, tmp_path: Path) -> None:
    result = attempt(state, tmp_path, CUT_STREAMS)
    assert 20 <= result.receipts.exchanges <= 24
    assert result.reasoning_present in {False, None}


def test_a_deadline_while_it_progresses_leaves_the_verifiers_word(
    state: Path, tmp_path: Path
) -> None:
    result = attempt(state, tmp_path, SLEEPS, agent_s=25)
    assert result.outcome.reason is EndReason.DEADLINE_PROGRESS, result.outcome.detail
    assert "25 s" in result.outcome.detail
    assert (result.grade, result.score) == ("graded", 0.0)


@pytest.mark.parametrize("wrote", [False, True])
def test_a_deadline_without_progress_is_no_wrong_answer(
    state: Path, tmp_path: Path, *, wrote: bool
) -> None:
    """A step just before counts as progress for 15 minutes."""
    turns = [WRITES, THINKS_FOR_EVER] if wrote else [THINKS_FOR_EVER]
    result = attempt(state, tmp_path, *turns, agent_s=25)
    expected = EndReason.DEADLINE_PROGRESS if wrote else EndReason.DEADLINE_IDLE
    assert result.outcome.reason is expected, result.outcome.detail
    assert (result.grade, result.score) == ("graded", 1.0 if wrote else None)
