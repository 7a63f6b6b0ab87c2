from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import all_corrections
from stanchion.harness_adapters.opencode import BINARY, OpenCode
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.OPENAI_CHAT)


def test_the_program_itself_is_started_with_the_instruction_verbatim_on_its_input() -> None:
    plan = OpenCode().plan(PLAIN)
    assert plan.argv[:2] == (f"/opt/harness/{BINARY}", "run")
    assert {"--auto", "--thinking", "--title"} <= set(plan.argv)
    assert plan.stdin == b'Say "hello"\nand stop.'
    assert not any("hello" in argument for argument in plan.argv)


def test_no_file_is_written_outside_the_home() -> None:
    plan = OpenCode().plan(PLAIN)
    assert plan.files
    assert all(file.path.startswith(f"{HOME}/") for file in plan.files)


def test_the_store_is_the_database_that_the_harness_is_told_to_use() -> None:
    plan = OpenCode().plan(PLAIN)
    assert plan.store is not None
    assert plan.store.path == plan.env["OPENCODE_DB"]
    assert plan.store.first_cursor == 0


def test_what_is_planned_reads_back_as_declared() -> None:
    adapter = OpenCode()
    plan = adapter.plan(replace(PLAIN, context=400_000))
    files = {file.path: file.text.encode() for file in plan.files if file.text is not None}
    written = adapter.read_back(plan.env, files)
    assert (written.output_limit, written.context, written.effort) == (128_000, 400_000, "max")


def test_nothing_is_planned_for_a_launch_that_is_refused() -> None:
    with pytest.raises(RefusedError):
        OpenCode().plan(replace(PLAIN, output_limit=0))


def test_it_needs_one_correction_of_a_word_and_makes_no_side_requests() -> None:
    adapter = OpenCode()
    assert adapter.corrections(Dialect.OPENAI_CHAT, 128_000) == ()
    assert adapter.effort_corrections(Dialect.OPENAI_CHAT, "max") == ()
    (made,) = all_corrections(adapter, Dialect.GEMINI, 128_000, "xhigh")
    assert (made.field, made.value) == (
        "generationConfig.thinkingConfig.thinkingLevel",
        "xhigh",
    )
    assert adapter.side_requests(Dialect.OPENAI_CHAT) == ()
    assert adapter.versions == ("1.18.33",)
    assert adapter.dialects == (
        Dialect.OPENAI_CHAT,
        Dialect.OPENAI_RESPONSES,
        Dialect.ANTHROPIC_MESSAGES,
        Dialect.GEMINI,
    )


def test_each_session_is_a_fresh_one() -> None:
    adapter = OpenCode()
    first = adapter.session()
    first.output(b'{"type":"error","error":{"name":"X"}}')
    assert first.end() != adapter.session().end()
