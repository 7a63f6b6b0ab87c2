from dataclasses import replace

from stanchion.harness_adapters.base import LinesStore, all_corrections
from stanchion.harness_adapters.codex import Codex
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.OPENAI_RESPONSES)

RESPONSES = Dialect.OPENAI_RESPONSES


def test_it_is_started_without_a_shell_and_told_by_standard_input() -> None:
    plan = Codex().plan(PLAIN)
    assert plan.argv[0].startswith("/opt/harness/vendor/")
    assert plan.argv[1] == "exec"
    assert {"--json", "--strict-config", "--dangerously-bypass-approvals-and-sandbox"} <= set(
        plan.argv
    )
    assert plan.stdin == PLAIN.instruction.encode()
    assert PLAIN.instruction not in plan.argv
    assert plan.store == LinesStore(folder=f"{plan.env['CODEX_HOME']}/sessions")


def test_what_an_image_has_for_every_user_is_taken_away() -> None:
    assert Codex().plan(PLAIN).removed == ("/etc/codex",)


def test_the_limit_is_always_corrected_and_no_word_but_one_is() -> None:
    adapter = Codex()
    for limit in (8_000, 200_000):
        (correction,) = adapter.corrections(RESPONSES, limit)
        assert (correction.field, correction.value) == ("max_output_tokens", limit)
    assert adapter.corrections(Dialect.OPENAI_CHAT, 128_000) == ()
    for word in (*EFFORT_WORDS[RESPONSES], "ULTRA", None):
        assert len(all_corrections(adapter, RESPONSES, 8_000, word)) == 1
    assert adapter.side_requests(RESPONSES) == ()
    assert adapter.refuses == ()


def test_the_word_that_it_would_replace_is_not_told_to_it_and_left_to_the_broker() -> None:
    adapter = Codex()
    plan = adapter.plan(replace(PLAIN, effort="ultra"))
    files = {file.path: (file.text or "").encode() for file in plan.files}
    assert adapter.read_back(plan.env, files).effort is None
    assert all(b"model_reasoning_effort" not in text for text in files.values())
    _, made = all_corrections(adapter, RESPONSES, 8_000, "ultra")
    assert (made.field, made.value) == ("reasoning.effort", "ultra")


def test_what_it_plans_is_what_it_reads_back() -> None:
    adapter = Codex()
    plan = adapter.plan(PLAIN)
    written = adapter.read_back(
        plan.env, {file.path: (file.text or "").encode() for file in plan.files}
    )
    assert (written.model, written.effort) == (PLAIN.model, PLAIN.effort)
    assert written.output_limit is None, "it cannot be told one"
    assert all(file.path.startswith(HOME) for file in plan.files)


def test_each_session_is_a_fresh_one() -> None:
    assert Codex().session() is not Codex().session()
