"""The real mini-swe-agent does on the wire what its adapter was told. Needs the harness itself."""

from pathlib import Path

import pytest

from conformance.harness import rehearsed
from functional.harness_adapters.gate import let_through
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.images.harness_store import HarnessPackage
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import SessionState

OPENAI, ANTHROPIC = Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES
PATHS = {OPENAI: "/v1/chat/completions", ANTHROPIC: "/v1/messages"}
WORK = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "bash"
arguments.command = "printf one > one.txt"
"""
SUBMIT = """
[[turn]]
text = "The file is written."
[[turn.tool]]
name = "bash"
arguments.command = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""
AGAIN = SUBMIT.replace(
    "[[turn.tool]]", '[turn.fault]\nkind = "status"\nstatus = 500\ntimes = 1\n[[turn.tool]]'
)

pytestmark = [pytest.mark.harness, pytest.mark.other_harness, pytest.mark.timeout(240)]


@pytest.mark.parametrize(
    ("dialect", "limit", "effort", "model", "script"),
    [
        # By its name litellm would ask for it through another API, with the limit in another field.
        pytest.param(OPENAI, 200_000, "max", "gpt-5-pro", WORK + AGAIN, id="openai"),
        pytest.param(
            *(OPENAI, 8_000, None, "maker/future-9:large", WORK + SUBMIT),
            id="unspecified",
            marks=pytest.mark.acceptance,
        ),
        # By its name litellm would refuse this effort, or make a budget of it.
        pytest.param(ANTHROPIC, 64_000, "xhigh", "claude-opus-4-1", WORK + AGAIN, id="anthropic"),
    ],
)
def test_limit_and_effort_reach_the_wire_on_every_request_and_nothing_else_is_asked(
    mini_swe_agent: HarnessPackage,
    tmp_path: Path,
    dialect: Dialect,
    limit: int,
    effort: str | None,
    model: str,
    script: str,
) -> None:
    settings = Settings(
        model=model, base_url="", dialect=dialect, output_limit=limit, context=400_000,
        effort=effort, instruction='Write "one" to one.txt,\nthen stop. \U0001f600\n', home="",
        workdir="", package_dir="", env={},
    )  # fmt: skip
    adapter = registry.adapter("mini_swe_agent")
    run = rehearsed.run(
        adapter, mini_swe_agent, script, settings, tmp_path, bring=bring_configuration_along
    )
    assert run.ran.returncode == 0, run.ran.stderr.decode(errors="replace")[-2000:]
    assert [request["status"] for request in run.seen] == (
        [200, 500, 200] if script.endswith(AGAIN) else [200, 200]
    )
    for request in run.seen:
        assert (request["path"], request["model"]) == (PATHS[dialect], model)
        assert (request["max_tokens"], request["max_completion_tokens"]) == (limit, None)
        assert request["reasoning_effort"] == effort
        thinks = dialect is ANTHROPIC and effort is not None
        assert request["thinking_type"] == ("adaptive" if thinks else None)
        assert request["stream"] is False
    assert let_through(run.requests, dialect)
    assert (run.workdir / "one.txt").read_text() == "one"
    session = adapter.session()
    assert session.rows(run.ran.rows)
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)


def bring_configuration_along(workdir: Path, home: Path) -> None:
    """Files of an image or a repository that ask for another model, limit, address and code."""
    foreign = "model:\n  model_name: openai/x\n  model_kwargs: {max_tokens: 7, drop_params: true}\n"
    variables = "OPENAI_API_BASE=http://127.0.0.1:9\nMSWEA_MODEL_NAME=x\nLITELLM_DROP_PARAMS=1\n"
    own = home / ".config/mini-swe-agent"
    own.mkdir(parents=True)
    for place in (workdir, own):
        for name in ("mini.yaml", "run.yaml", "default.yaml"):
            (place / name).write_text(foreign)
        (place / ".env").write_text(variables)
    for module in ("litellm", "minisweagent", "sitecustomize", "yaml"):
        (workdir / f"{module}.py").write_text("raise SystemExit('THE WORKSPACE SPEAKS')\n")
