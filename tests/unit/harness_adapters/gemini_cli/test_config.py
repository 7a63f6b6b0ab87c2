import json
import tomllib
from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import LinesStore, Settings, Written
from stanchion.harness_adapters.gemini_cli import GeminiCli, config
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters import plain_launch
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.GEMINI, effort="high")
SETTINGS = f"{config.folder(HOME)}/.gemini/settings.json"


def read_back(settings: Settings, **changed: object) -> Written:
    """What the adapter reads from what it planned, its settings changed by these."""
    return plain_launch.read_back(
        GeminiCli(), settings, SETTINGS, lambda table: table.update(changed)
    )


@pytest.mark.parametrize("model", ["future-9", "gemma-4-31b-it"])
@pytest.mark.parametrize("limit", [1, 8_000, 64_000, 128_000, 200_000])
@pytest.mark.parametrize("effort", [None, "minimal", "xhigh", "brand-new"])
@pytest.mark.parametrize("context", [None, 50_001, 200_000, 2_000_000])
def test_what_is_written_is_understood_as_it_was_meant(
    model: str, limit: int, effort: str | None, context: int | None
) -> None:
    settings = replace(PLAIN, model=model, output_limit=limit, effort=effort, context=context)
    assert read_back(settings) == Written(
        model=model,
        base_url="http://127.0.0.1:4711",
        output_limit=limit,
        context=context,
        effort=effort,
    )


def test_a_budget_of_thoughts_is_understood_too() -> None:
    found = read_back(replace(PLAIN, effort=None, thinking_budget=2_000))
    assert (found.effort, found.thinking_budget) == (None, 2_000)


def override(**generation: object) -> dict[str, object]:
    return {"model": "future-9", "generateContentConfig": generation}


@pytest.mark.parametrize(
    "overrides",
    [
        None,
        [],
        [{"match": {"model": "future-9"}, "modelConfig": override(maxOutputTokens=128_000)}],
        [
            {"match": {"overrideScope": "core"}, "modelConfig": override(maxOutputTokens=128_000)},
            {"match": {"model": "future-9"}, "modelConfig": override(maxOutputTokens=9)},
        ],
        ["odd", "odd"],
    ],
)
def test_overrides_that_say_more_or_less_are_not_understood(overrides: object) -> None:
    assert read_back(PLAIN, modelConfigs={"customOverrides": overrides}).output_limit is None


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"model": 3}'])
def test_damaged_settings_are_unknown(text: bytes) -> None:
    found = GeminiCli().read_back(GeminiCli().plan(PLAIN).env, {SETTINGS: text})
    assert (found.model, found.output_limit, found.effort) == (None, None, None)


def test_it_is_started_by_its_own_node_and_told_by_standard_input() -> None:
    plan = GeminiCli().plan(PLAIN)
    assert plan.argv[0] == "/opt/harness/runtime/bin/node"
    assert plan.stdin == PLAIN.instruction.encode()
    assert PLAIN.instruction not in plan.argv
    assert plan.store == LinesStore(folder=f"{HOME}/.stanchion-gemini/.gemini/tmp")
    assert plan.removed == ("/etc/gemini-cli",)
    assert all(file.path.startswith(HOME) for file in plan.files)
    adapter = GeminiCli()
    assert adapter.corrections(PLAIN.dialect, 200_000) == adapter.side_requests(PLAIN.dialect) == ()


def test_the_workspace_is_not_trusted_and_nobody_is_asked() -> None:
    plan = GeminiCli().plan(PLAIN)
    assert plan.env["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
    rules = tomllib.loads(config.RULES)["rule"]
    strongest = sorted(rules, key=lambda rule: -rule["priority"])
    assert [rule["decision"] for rule in strongest] == ["deny", "allow", "allow"]
    assert strongest[-1]["toolName"] == "*"


def test_a_level_leaves_no_budget_that_a_name_brings_along() -> None:
    settings = json.loads(GeminiCli().plan(PLAIN).files[0].text or "")
    alias = settings["modelConfigs"]["customAliases"]["future-9"]
    assert alias["extends"] == "chat-base"
    silent = json.loads(GeminiCli().plan(replace(PLAIN, effort=None)).files[0].text or "")
    assert "customAliases" not in silent["modelConfigs"]


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"dialect": Dialect.OPENAI_CHAT}, "dialect_unsupported"),
        ({"model": "models/future-9"}, "model_unwritable"),
        ({"model": "future-9:large"}, "model_unwritable"),
        ({"model": "Auto"}, "model_unwritable"),
        ({"model": "gemini-3-pro-preview"}, "model_unwritable"),
        ({"effort": "very high"}, "effort_unwritable"),
        ({"output_limit": 0}, "limit_unwritable"),
        ({"context": 49_999}, "context_too_small"),
        ({"thinking_budget": 2_000}, "thinking_budget_refused"),
        ({"instruction": "/help"}, "instruction_unusable"),
        ({"home": "/home/$USER"}, "path_unusable"),
        ({"env": {"GOOGLE_GEMINI_BASE_URL": "http://x"}}, "env_reserved"),
        ({"env": {"NODE_OPTIONS": "--require x"}}, "env_reserved"),
    ],
)
def test_what_it_would_misread_is_refused_by_name(changed: dict[str, object], refusal: str) -> None:
    with pytest.raises(RefusedError) as refused:
        GeminiCli().plan(replace(PLAIN, **changed))  # type: ignore[arg-type]  # any field
    assert refused.value.refusal.id == refusal
