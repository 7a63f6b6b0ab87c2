import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import (
    ARGUMENTS,
    INPUT,
    Plan,
    Settings,
    Written,
    all_corrections,
)
from stanchion.harness_adapters.command import OwnProgram
from stanchion.harness_adapters.command.definition import read
from stanchion.harness_adapters.thinking import check_budget
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.refusal import Refusal, RefusedError
from unit.harness_adapters.command.own_programs import LAUNCH, PLAIN

CONFIG = "/home/agent/.tiny/config.json"


def program(text: str = PLAIN) -> OwnProgram:
    return OwnProgram(read(text, "agent.toml").command)


def seen(plan: Plan, **files: str) -> dict[str, bytes]:
    """What the supervisor finds on disk before the start."""
    planned = {file.path: (file.text or "").encode() for file in plan.files}
    found = {**planned, ARGUMENTS: "\0".join(plan.argv).encode(), INPUT: plan.stdin}
    return {**found, **{path: text.encode() for path, text in files.items()}}


def read_back(settings: Settings, change: Mapping[str, str] | None = None) -> Written:
    adapter = program()
    plan = adapter.plan(settings)
    return adapter.read_back({**plan.env, **(change or {})}, seen(plan))


def refused(settings: Settings, text: str = PLAIN) -> Refusal:
    with pytest.raises(RefusedError) as raised:
        program(text).check(settings)
    return raised.value.refusal


def test_each_text_has_the_values_of_the_launch() -> None:
    plan = program().plan(LAUNCH)
    run = "/opt/stanchion-harness/command/tiny-1/program/run"
    assert plan.argv == (run, "--model", "maker/future-9", "--effort", "max", "/work")
    assert plan.stdin == b'Do this:\nSay "hello"\nand stop.'
    assert plan.env["BASE_URL"] == "http://127.0.0.1:4711/v1"
    assert (plan.env["KEY"], plan.env["WINDOW"]) == ("placeholder", "400000")
    assert (plan.env["TASK"], plan.env["PATH"], plan.env["HOME"]) == (
        "1",
        "/image/bin",
        "/home/agent",
    )
    (file,) = plan.files
    assert (file.path, file.mode) == (CONFIG, 0o600)
    assert json.loads(file.text or "") == {"limit": 128_000, "say": LAUNCH.instruction}


def test_what_the_launch_does_not_say_is_left_out_with_its_group_or_variable() -> None:
    plan = program().plan(replace(LAUNCH, effort=None, context=None))
    assert plan.argv[1:] == ("--model", "maker/future-9", "/work")
    assert "WINDOW" not in plan.env


def test_the_version_is_the_users_own() -> None:
    adapter = program()
    assert (adapter.name, adapter.versions) == ("command", ("tiny-1",))
    assert (adapter.header_wait_s, adapter.min_memory_mb) == (600, 64)


def test_what_was_told_is_read_back_from_arguments_variables_and_files() -> None:
    told = Written(
        model="maker/future-9",
        base_url="http://127.0.0.1:4711",
        output_limit=128_000,
        context=400_000,
        effort="max",
    )
    assert read_back(LAUNCH) == told
    unsaid = replace(LAUNCH, effort=None, context=None)
    assert read_back(unsaid) == replace(told, effort=None, context=None)


@pytest.mark.parametrize("text", ["{}", '{"limit": 5, "say": 1} ', '{"limit": 128k, "say": ""}'])
def test_a_text_that_is_not_as_planned_says_nothing_or_what_stands_there(text: str) -> None:
    adapter = program()
    plan = adapter.plan(LAUNCH)
    written = adapter.read_back(plan.env, {**seen(plan), CONFIG: text.encode()})
    assert written.output_limit is None


def test_two_places_that_differ_say_nothing() -> None:
    text = PLAIN.replace('KEY = "{{key}}"', 'KEY = "{{key}}"\nLIMIT = "{{output_limit}}"')
    adapter = program(text)
    plan = adapter.plan(LAUNCH)
    assert adapter.read_back(plan.env, seen(plan)).output_limit == 128_000
    other = {**plan.env, "LIMIT": "8000"}
    assert adapter.read_back(other, seen(plan)).output_limit is None


def test_arguments_of_another_command_say_nothing() -> None:
    adapter = program()
    plan = adapter.plan(LAUNCH)
    for argv in (plan.argv[:-1], (*plan.argv, "--more"), ("/bin/sh", *plan.argv[1:])):
        found = {**seen(plan), ARGUMENTS: "\0".join(argv).encode()}
        assert adapter.read_back(plan.env, found).model is None


def test_an_effort_that_the_program_is_never_told_is_refused() -> None:
    silent = PLAIN.replace(', ["--effort", "{{effort}}"]', "")
    assert refused(LAUNCH, silent).id == "command_unsaid"
    program(silent).check(replace(LAUNCH, effort=None))


def test_a_window_that_the_program_is_never_told_is_refused_or_declared() -> None:
    silent = PLAIN.replace('WINDOW = "{{context}}"', "")
    assert refused(LAUNCH, silent).field == "context"
    program(silent).check(replace(LAUNCH, context=None))
    program('cannot_say = ["context"]\n' + silent).check(LAUNCH)


def test_a_text_that_cannot_be_left_out_needs_its_value() -> None:
    fixed = PLAIN.replace('["--effort", "{{effort}}"]', '"--effort={{effort}}"')
    program(fixed).check(LAUNCH)
    found = refused(replace(LAUNCH, effort=None), fixed)
    assert (found.id, found.field) == ("command_unsaid", "effort")


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"dialect": Dialect.GEMINI}, "dialect_unsupported"),
        ({"model": 'a"b'}, "model_unwritable"),
        ({"effort": "very high"}, "effort_unwritable"),
        ({"output_limit": 0}, "limit_unwritable"),
        ({"context": 0}, "limit_unwritable"),
        ({"instruction": " "}, "instruction_unusable"),
        ({"base_url": "http://elsewhere"}, "base_url_unusable"),
        ({"env": {"BASE_URL": "http://elsewhere"}}, "env_reserved"),
        ({"env": {"base_url": "http://elsewhere"}}, "env_reserved"),
    ],
)
def test_what_no_program_is_given_is_refused(change: dict[str, object], refusal: str) -> None:
    assert refused(replace(LAUNCH, **change)).id == refusal  # type: ignore[arg-type]


def test_a_limit_that_it_cannot_say_is_the_one_declared_correction() -> None:
    text = 'cannot_say = ["output_limit"]\nlimit_field = "max_tokens"\n'
    adapter = program(text + PLAIN.replace("{{output_limit}}", "1"))
    (correction,) = adapter.corrections(Dialect.OPENAI_CHAT, 64_000)
    assert (correction.field, correction.value) == ("max_tokens", 64_000)
    assert adapter.corrections(Dialect.GEMINI, 64_000) == ()
    assert program().corrections(Dialect.OPENAI_CHAT, 64_000) == ()
    assert program().side_requests(Dialect.OPENAI_CHAT) == ()


def test_it_keeps_no_session_that_anybody_could_read() -> None:
    session = program().session()
    assert session.output(b'{"end": "good"}') == session.rows([("x",)]) == []
    assert session.end().state is SessionState.UNKNOWN


WITHOUT = PLAIN.replace(', ["--effort", "{{effort}}"]', "").replace(', "anthropic_messages"', "")
"""It says no effort, over the one API where that is a plain field."""


@pytest.mark.parametrize("word", ["max", "brand-new"])
def test_an_effort_that_it_cannot_say_is_written_by_the_broker(word: str) -> None:
    adapter = program('cannot_say = ["effort"]\n' + WITHOUT)
    launch = replace(LAUNCH, effort=word)
    plan = adapter.plan(launch)
    (made,) = all_corrections(adapter, Dialect.OPENAI_CHAT, 64_000, word)
    assert (made.field, made.value) == ("reasoning_effort", word)
    written = adapter.read_back(plan.env, seen(plan))
    assert (written.effort, "effort" in written.unsaid) == (None, True)


def test_no_effort_is_written_where_none_is_asked_for_or_it_says_one() -> None:
    silent = program('cannot_say = ["effort"]\n' + WITHOUT)
    assert silent.effort_corrections(Dialect.OPENAI_CHAT, None) == ()
    assert silent.effort_corrections(Dialect.ANTHROPIC_MESSAGES, "max") == ()
    assert program().effort_corrections(Dialect.OPENAI_CHAT, "max") == ()


BUDGET = PLAIN.replace('"{{workdir}}"]', '["--think", "{{thinking_budget}}"], "{{workdir}}"]')


def test_a_thinking_budget_is_told_and_read_back() -> None:
    adapter = program(BUDGET)
    launch = replace(LAUNCH, dialect=Dialect.ANTHROPIC_MESSAGES, thinking_budget=16_000)
    check_budget(adapter.name, launch)
    plan = adapter.plan(launch)
    assert plan.argv[-3:] == ("--think", "16000", "/work")
    assert adapter.read_back(plan.env, seen(plan)).thinking_budget == 16_000
    without = adapter.plan(replace(launch, thinking_budget=None))
    assert "--think" not in without.argv
    assert adapter.read_back(without.env, seen(without)).thinking_budget is None


def test_a_thinking_budget_that_the_program_is_never_told_is_refused() -> None:
    launch = replace(LAUNCH, dialect=Dialect.ANTHROPIC_MESSAGES, thinking_budget=16_000)
    found = refused(launch)
    assert (found.id, found.field) == ("command_unsaid", "thinking_budget")
    assert "cannot_say" not in found.remedy
