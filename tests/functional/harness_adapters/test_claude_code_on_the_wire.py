"""The real Claude Code does on the wire what its adapter was told. Needs the harness itself."""

import json
from pathlib import Path

import pytest

from conformance.harness import rehearsed
from functional.harness_adapters.gate import let_through
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.images.harness_store import HarnessPackage
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState

MESSAGES = Dialect.ANTHROPIC_MESSAGES
MODEL = "maker/future-9:large"
WORK = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "Bash"
[turn.tool.arguments]
command = "printf one > one.txt"
description = "Write the file"
"""
DONE = '[[turn]]\ntext = "The file is written."\n'
CUT = '[[turn]]\ntext = "The file is"\nfinish = "length"\n'
BROKEN = '[[turn]]\ntext = "The file is written."\nfault = {kind = "cut", after = 2, times = 1}\n'

pytestmark = [pytest.mark.harness, pytest.mark.other_harness, pytest.mark.timeout(240)]


@pytest.mark.parametrize(
    ("limit", "effort", "context", "model", "script", "budget"),
    [
        (128_000, "max", None, MODEL, WORK + DONE, None),
        (200_000, "ultra", 400_000, MODEL, WORK + DONE, None),
        (8_000, None, None, MODEL, WORK + CUT + DONE, None),
        (64_000, "xhigh", None, MODEL, WORK + BROKEN, None),
        (32_000, None, None, "claude-opus-4-1", WORK + DONE, None),
        (64_000, "high", None, MODEL, WORK + BROKEN, 20_000),
    ],
    ids=["plain", "above the cap", "cut at the limit", "broken stream", "renamed model", "budget"],
)
def test_limit_and_effort_reach_the_wire_on_every_request_and_nothing_else_is_asked(
    claude_code: HarnessPackage,
    tmp_path: Path,
    limit: int,
    effort: str | None,
    context: int | None,
    model: str,
    script: str,
    budget: int | None,
) -> None:
    settings = Settings(
        model=model, base_url="", dialect=MESSAGES, output_limit=limit, context=context,
        effort=effort, instruction='Write "one" to one.txt,\nthen stop.\n', home="", workdir="",
        package_dir="", env={}, thinking_budget=budget,
    )  # fmt: skip
    adapter = registry.adapter("claude_code")
    run = rehearsed.run(
        adapter, claude_code, script, settings, tmp_path, bring=bring_configuration_along
    )
    assert run.ran.returncode == 0, run.ran.stdout.decode(errors="replace")[-2000:]
    assert len(run.seen) == (2 if script.endswith(WORK + DONE) else 3)
    old = model != MODEL
    for request in run.seen:
        assert request["path"] == "/v1/messages"
        assert (request["model"], request["max_tokens"]) == (model, limit)
        assert request["reasoning_effort"] == (None if old else effort or "high")
        assert budget is None or request["thinking_budget_tokens"] == budget
        assert request["tools"], "a request without tools would be a title or a summary"
    assert len(let_through(run.requests, MESSAGES)) == len(run.seen)
    assert all(b"THE WORKSPACE SPEAKS" not in body for _, body in run.requests)
    assert (run.workdir / "one.txt").read_text() == "one"
    session = adapter.session()
    saved = [item for line in run.ran.stdout.splitlines() for item in session.output(line)]
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)
    steps = [item.reason for item in saved if isinstance(item, StepSaved)]
    assert [reason for reason in steps if reason != "unknown"] == ["tool_use", "end_turn"]


def bring_configuration_along(workdir: Path, home: Path) -> None:
    """Files of an image or a repository that ask for another model, limit, effort and address."""
    foreign = {
        "model": "x",
        "effortLevel": "low",
        "permissions": {"deny": ["Bash"]},
        "enableAllProjectMcpServers": True,
        "env": {
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "7",
            "CLAUDE_CODE_EFFORT_LEVEL": "low",
        },
    }
    for place in (workdir / ".claude", home / ".claude"):
        place.mkdir(parents=True)
        (place / "settings.json").write_text(json.dumps(foreign))
        (place / "settings.local.json").write_text(json.dumps(foreign))
    for place in (workdir, home / ".claude"):
        (place / "CLAUDE.md").write_text("THE WORKSPACE SPEAKS")
    server = {"command": "/bin/sh", "args": ["-c", "touch started; cat"]}
    (workdir / ".mcp.json").write_text(json.dumps({"mcpServers": {"hostile": server}}))
