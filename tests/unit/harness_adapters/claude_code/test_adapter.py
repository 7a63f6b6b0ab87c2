from dataclasses import replace

import pytest

from stanchion.harness_adapters.claude_code import FALLBACK_CAP, ClaudeCode
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.ANTHROPIC_MESSAGES)

MESSAGES = Dialect.ANTHROPIC_MESSAGES


def test_it_is_started_without_a_shell_and_told_by_standard_input() -> None:
    plan = ClaudeCode().plan(PLAIN)
    assert plan.argv[:2] == ("/opt/harness/claude", "--print")
    assert plan.stdin == PLAIN.instruction.encode()
    assert PLAIN.instruction not in plan.argv
    assert plan.store is None
    assert plan.removed == ("/etc/claude-code",)
    for flags in (("--setting-sources", "user"), ("--output-format", "stream-json")):
        at = plan.argv.index(flags[0])
        assert plan.argv[at + 1] == flags[1]
    assert {"--strict-mcp-config", "--dangerously-skip-permissions"} <= set(plan.argv)


def test_what_it_plans_is_what_it_reads_back() -> None:
    adapter = ClaudeCode()
    plan = adapter.plan(PLAIN)
    written = adapter.read_back(
        plan.env, {file.path: (file.text or "").encode() for file in plan.files}
    )
    assert (written.model, written.output_limit) == (PLAIN.model, PLAIN.output_limit)
    assert (written.effort, written.context) == (PLAIN.effort, PLAIN.context)
    assert all(file.path.startswith(HOME) for file in plan.files)


def test_the_limit_is_corrected_only_above_what_a_request_without_a_stream_asks_for() -> None:
    adapter = ClaudeCode()
    assert adapter.corrections(MESSAGES, FALLBACK_CAP) == ()
    assert adapter.corrections(Dialect.OPENAI_CHAT, 128_000) == ()
    (correction,) = adapter.corrections(MESSAGES, 128_000)
    assert (correction.field, correction.value) == ("max_tokens", 128_000)
    assert adapter.side_requests(MESSAGES) == ()


def test_a_plan_refuses_what_the_check_refuses() -> None:
    with pytest.raises(RefusedError):
        ClaudeCode().plan(replace(PLAIN, output_limit=0))


def test_each_session_is_a_fresh_one() -> None:
    assert ClaudeCode().session() is not ClaudeCode().session()
