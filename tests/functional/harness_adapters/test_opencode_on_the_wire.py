"""The real OpenCode does on the wire what its adapter was told. Needs the harness itself."""

import json
from pathlib import Path

import pytest

from conformance.harness import native, rehearsed
from functional.harness_adapters.gate import let_through
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import SessionReader, Settings
from stanchion.images.harness_store import HarnessPackage
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem

MODEL = "maker/future-9:large"
MODELS = {Dialect.GEMINI: "future-9-large"}
"""Where it stands in the path it is a plain one."""
PATHS = {
    Dialect.OPENAI_CHAT: "/v1/chat/completions",
    Dialect.OPENAI_RESPONSES: "/v1/responses",
    Dialect.ANTHROPIC_MESSAGES: "/v1/messages",
    Dialect.GEMINI: f"/v1beta/models/{MODELS[Dialect.GEMINI]}:streamGenerateContent",
}
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
LIMITED_BY = {
    Dialect.OPENAI_CHAT: "max_tokens",
    Dialect.OPENAI_RESPONSES: "max_output_tokens",
    Dialect.ANTHROPIC_MESSAGES: "max_tokens",
    Dialect.GEMINI: "max_output_tokens",  # the witness's word for it
}
INSTRUCTION = 'Write "one" to one.txt,\nthen stop.\n'
SCRIPT = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "bash"
[turn.tool.arguments]
command = "printf one > one.txt"
description = "Write the file"
[[turn]]
text = "The file is written."
"""


@pytest.mark.harness
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("dialect", "limit", "effort", "context", "budget"),
    [
        (Dialect.OPENAI_CHAT, 200_000, "max", 400_000, None),
        (Dialect.OPENAI_CHAT, 8_000, None, None, None),
        (Dialect.OPENAI_RESPONSES, 200_000, "max", 400_000, None),
        (Dialect.OPENAI_RESPONSES, 8_000, None, None, None),
        (Dialect.ANTHROPIC_MESSAGES, 200_000, "max", 400_000, None),
        (Dialect.ANTHROPIC_MESSAGES, 64_000, "high", None, 20_000),
        (Dialect.ANTHROPIC_MESSAGES, 8_000, None, None, 1_024),
        (Dialect.GEMINI, 200_000, "high", 400_000, None),
        (Dialect.GEMINI, 8_000, None, None, 4_096),
    ],
)
def test_limit_and_effort_reach_the_wire_on_every_request_and_nothing_else_is_asked(
    opencode: HarnessPackage,
    tmp_path: Path,
    dialect: Dialect,
    limit: int,
    effort: str | None,
    context: int | None,
    budget: int | None,
) -> None:
    model = MODELS.get(dialect, MODEL)
    settings = Settings(
        model=model, base_url="", dialect=dialect, output_limit=limit, context=context,
        effort=effort, instruction=INSTRUCTION, home="", workdir="", package_dir="", env={},
        thinking_budget=budget,
    )  # fmt: skip
    adapter = registry.adapter("opencode")

    def bring(workdir: Path, home: Path) -> None:
        bring_configuration_along(workdir, home, model, agent=effort is not None)

    run = rehearsed.run(adapter, opencode, SCRIPT, settings, tmp_path, bring=bring)
    assert run.ran.returncode == 0, run.ran.stderr.decode(errors="replace")
    assert [(request["path"], request["turn"], request["status"]) for request in run.seen] == [
        (PATHS[dialect], 0, 200),
        (PATHS[dialect], 1, 200),
    ]
    for request in run.seen:
        assert request["model"] == model
        assert {name: request[name] for name in LIMITS} == {
            name: limit if name == LIMITED_BY[dialect] else None for name in LIMITS
        }
        assert request["reasoning_effort"] == effort
        thinks = dialect is Dialect.ANTHROPIC_MESSAGES and effort is not None
        kind = "enabled" if budget is not None and dialect is not Dialect.GEMINI else None
        assert request["thinking_type"] == (kind or ("adaptive" if thinks else None))
        assert request["thinking_budget_tokens"] == budget
        assert request["tools"], "a request without tools would be a title or a summary"
    assert len(let_through(run.requests, dialect)) == 2
    assert (run.workdir / "one.txt").read_text() == "one"
    assert_session(adapter.session(), run.ran)


def bring_configuration_along(workdir: Path, home: Path, model: str, *, agent: bool) -> None:
    """Files of an image or a repository that ask for another model, limit, effort and address."""
    other = {"limit": {"context": 1, "output": 5}, "options": {"max_tokens": 7}}
    options = {"baseURL": "http://127.0.0.1:9/v1"}
    provider = {"stanchion": {"options": options, "models": {model: other}}}
    foreign = json.dumps({"model": "x/y", "permission": {"bash": "deny"}, "provider": provider})
    for place in (workdir, workdir / ".opencode", home / ".opencode", home / ".config/opencode"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "opencode.json").write_text(foreign)
    if agent:
        (home / ".config/opencode/agent").mkdir()
        (home / ".config/opencode/agent/build.md").write_text(
            "---\nreasoningEffort: low\nthinkingConfig:\n  thinkingLevel: low\n---\nHm.\n"
        )


def assert_session(session: SessionReader, ran: native.NativeRun) -> None:
    saved = session.rows(ran.rows)
    for line in ran.stdout.splitlines():
        saved += session.output(line)
    end = session.end()
    assert (end.state, end.steps) == (SessionState.GOOD, 2)
    assert [item.reason for item in saved if isinstance(item, StepSaved)] == ["tool-calls", "stop"]
    told = [
        item.text
        for item in saved
        if isinstance(item, TranscriptItem) and item.kind is ItemKind.USER
    ]
    assert told == [INSTRUCTION]
