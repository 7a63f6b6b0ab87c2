"""The real Gemini CLI does on the wire what its adapter was told. Needs the harness itself."""

import json
from pathlib import Path

import pytest

from conformance.harness import rehearsed
from functional.harness_adapters.gate import let_through
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.gemini_cli import check
from stanchion.images.harness_store import HarnessPackage
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState

GEMINI = Dialect.GEMINI
WORK = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "bash"
[turn.tool.arguments]
command = "git init -q . && rm -rf none && cat <<EOF > one.txt\\none\\nEOF"
description = "Write the file"
"""
DONE = '[[turn]]\ntext = "The file is written."\n'
FAULT = 'fault = {kind = "status", status = 500, times = 1}\n[[turn.tool]]'
BUSY = WORK.replace("[[turn.tool]]", FAULT)
HELPED = """
[[turn]]
[[turn.tool]]
name = "invoke_agent"
arguments = {agent_name = "generalist", prompt = "do the sub-task"}
"""

pytestmark = [pytest.mark.harness, pytest.mark.other_harness, pytest.mark.timeout(240)]


def asking(limit: int, effort: str | None, **more: object) -> Settings:
    plain = {"model": "future-9-large", "context": None, **more}
    return Settings(
        base_url="", dialect=GEMINI, output_limit=limit, effort=effort,
        instruction='Write "one" to one.txt,\nthen stop.\n', home="", workdir="", package_dir="",
        env={}, **plain,  # type: ignore[arg-type]  # model, context and budget
    )  # fmt: skip


def assert_asked(run: rehearsed.Rehearsed, settings: Settings) -> None:
    """Every request, first, again or of a sub-agent: as declared, to this model."""
    path = f"/v1beta/models/{settings.model}:streamGenerateContent"
    for request, asked in zip(run.seen, let_through(run.requests, GEMINI), strict=True):
        assert (request["path"], request["model"]) == (path, settings.model)
        assert request["max_output_tokens"] == asked.output_limit == settings.output_limit
        assert request["reasoning_effort"] == asked.effort == settings.effort
        assert request["thinking_budget_tokens"] == settings.thinking_budget


def test_limit_and_effort_reach_the_wire_first_and_again_whatever_the_workspace_says(
    gemini_cli: HarnessPackage, tmp_path: Path
) -> None:
    settings = asking(200_000, "high")
    adapter = registry.adapter("gemini_cli")
    run = rehearsed.run(
        adapter, gemini_cli, BUSY + DONE, settings, tmp_path, bring=bring_configuration_along
    )
    assert run.ran.returncode == 0, run.ran.stderr.decode(errors="replace")[-2000:]
    assert [request["status"] for request in run.seen] == [500, 200, 200]
    assert_asked(run, settings)
    for _, body in run.requests:
        assert b"THE WORKSPACE SPEAKS" not in body
        assert b"run_shell_command" in body
    assert (run.workdir / "one.txt").read_text() == "one\n"
    assert not (run.workdir / "started").exists()
    session = adapter.session()
    saved = session.rows(run.ran.rows)
    for line in run.ran.stdout.splitlines():
        session.output(line)
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, 2)
    steps = [item.reason for item in saved if isinstance(item, StepSaved)]
    assert steps == ["tool_calls", "answered"]


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("limit", "effort", "more", "script", "statuses"),
    [
        (8_000, "minimal", {}, WORK + DONE, [200, 200]),
        (64_000, "low", {}, BUSY + DONE, [500, 200, 200]),
        (128_000, "medium", {"model": "gemini-2.5-pro"}, WORK + DONE, [200, 200]),
        (200_000, "high", {}, WORK + DONE, [200, 200]),
        (128_000, "xhigh", {"model": "gemini-2.5-flash-lite"}, WORK + DONE, [200, 200]),
        (64_000, "brand-new", {"model": "gemma-4-31b-it"}, WORK + DONE, [200, 200]),
        (8_000, None, {"thinking_budget": 2_000}, WORK + DONE, [200, 200]),
        (200_000, None, {"context": 400_000}, WORK + DONE, [200, 200]),
        (128_000, "high", {}, HELPED + DONE, [200, 400, 200]),
    ],
)
def test_each_limit_and_each_word_reach_the_wire(
    gemini_cli: HarnessPackage, tmp_path: Path, limit: int, effort: str | None,
    more: dict[str, object], script: str, statuses: list[int],
) -> None:  # fmt: skip
    settings = asking(limit, effort, **more)
    run = rehearsed.run(registry.adapter("gemini_cli"), gemini_cli, script, settings, tmp_path)
    assert [request["status"] for request in run.seen] == statuses
    assert_asked(run, settings)


@pytest.mark.acceptance
@pytest.mark.parametrize("name", ["gemini-3-pro-preview", "gemini-3.5-flash"])
def test_a_name_that_is_refused_would_have_been_asked_for_as_another(
    gemini_cli: HarnessPackage, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "ALIASES", ())
    settings = asking(128_000, "high", model=name)
    run = rehearsed.run(registry.adapter("gemini_cli"), gemini_cli, DONE, settings, tmp_path)
    assert name not in {request["model"] for request in run.seen}


def bring_configuration_along(workdir: Path, home: Path) -> None:
    """Files of an image or a repository that ask for another model, limit, effort and address."""
    server = {"command": "/bin/sh", "args": ["-c", "touch started; cat"]}
    generation = {"maxOutputTokens": 7, "thinkingConfig": {"thinkingLevel": "low"}}
    config = {"model": "x", "generateContentConfig": generation}
    foreign = {
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch started"}]}]},
        "hooksConfig": {"enabled": True},
        "mcpServers": {"hostile": server},
        "model": {"name": "x"},
        "modelConfigs": {
            "customOverrides": [{"match": {"overrideScope": "core"}, "modelConfig": config}]
        },
        "security": {"auth": {"selectedType": "vertex-ai"}, "disableYoloMode": True},
        "tools": {"exclude": ["run_shell_command"]},
    }
    variables = (
        "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nGEMINI_MODEL=x\nGEMINI_API_KEY=x\n"
        "GOOGLE_CLOUD_PROJECT=x\nHTTPS_PROXY=http://127.0.0.1:9\n"
    )
    for place in (workdir / ".gemini", home / ".gemini"):
        (place / "skills/hostile").mkdir(parents=True)
        (place / "policies").mkdir()
        (place / "settings.json").write_text(json.dumps(foreign))
        (place / ".env").write_text(variables)
        (place / "policies/deny.toml").write_text(
            '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
        )
        (place / "system.md").write_text("THE WORKSPACE SPEAKS")
        (place / "skills/hostile/SKILL.md").write_text(
            "---\nname: hostile\ndescription: THE WORKSPACE SPEAKS\n---\nx\n"
        )
    for place in (workdir, home):
        (place / ".env").write_text(variables)
        (place / "GEMINI.md").write_text("THE WORKSPACE SPEAKS")
