import json
from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import Settings, Written
from stanchion.harness_adapters.qwen_code import QwenCode, config
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters import plain_launch
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.OPENAI_CHAT, model="maker/future-9")
SETTINGS = f"{config.folder(HOME)}/settings.json"


def read_back(settings: Settings, **changed: object) -> Written:
    """What the adapter reads from what it planned, the settings' model changed by these."""
    return plain_launch.read_back(
        QwenCode(), settings, SETTINGS, lambda table: table["model"].update(changed)
    )


@pytest.mark.parametrize("limit", [1, 8_000, 64_000, 128_000, 200_000])
@pytest.mark.parametrize("effort", [None, "none", "minimal", "max", "brand-new"])
@pytest.mark.parametrize("context", [None, 200_000])
def test_what_is_written_is_understood_as_it_was_meant(
    limit: int, effort: str | None, context: int | None
) -> None:
    settings = replace(PLAIN, output_limit=limit, effort=effort, context=context)
    assert read_back(settings) == Written(
        model="maker/future-9",
        base_url="http://127.0.0.1:4711",
        output_limit=limit,
        context=context,
        effort=effort,
    )


@pytest.mark.parametrize(
    "generation",
    [
        {},
        {"samplingParams": {"max_tokens": "128k"}},
        {"samplingParams": {"max_tokens": True}},
        {"samplingParams": {"max_tokens": 128_000, "max_completion_tokens": 9}},
        {"samplingParams": {"max_tokens": 128_000}, "extra_body": {"max_tokens": 9}},
        "odd",
    ],
)
def test_a_configuration_that_says_more_or_less_is_not_understood(generation: object) -> None:
    assert read_back(PLAIN, generationConfig=generation).output_limit is None


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"model": 3}'])
def test_damaged_settings_are_unknown(text: bytes) -> None:
    env = QwenCode().plan(PLAIN).env
    found = QwenCode().read_back(env, {SETTINGS: text})
    assert (found.model, found.output_limit, found.effort) == (None, None, None)


def test_it_is_started_by_its_own_node_and_told_by_standard_input() -> None:
    plan = QwenCode().plan(PLAIN)
    assert plan.argv[0] == "/opt/harness/runtime/bin/node"
    assert plan.argv[1] == "/opt/harness/node_modules/@qwen-code/qwen-code/cli.js"
    assert plan.stdin == PLAIN.instruction.encode()
    assert PLAIN.instruction not in plan.argv
    assert all(file.path.startswith(HOME) for file in plan.files)


def test_the_workspace_is_not_to_be_trusted_and_nobody_is_asked() -> None:
    plan = QwenCode().plan(PLAIN)
    texts = {file.path.rpartition("/")[2]: file.text or "" for file in plan.files}
    assert json.loads(texts["trustedFolders.json"]) == {"/work": "DO_NOT_TRUST"}
    permissions = json.loads(texts["settings.json"])["permissions"]
    assert {"run_shell_command", "write_file", "edit", "agent"} <= set(permissions["allow"])
    assert not set(permissions["allow"]) & set(permissions["deny"])
    assert {plan.env[name] for name in config.PROXIES} == {""}


def test_nothing_is_corrected_and_nothing_asked_beside() -> None:
    adapter = QwenCode()
    assert adapter.corrections(Dialect.OPENAI_CHAT, 200_000) == ()
    assert adapter.side_requests(Dialect.OPENAI_CHAT) == ()


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"dialect": Dialect.GEMINI}, "dialect_unsupported"),
        ({"model": "a model"}, "model_unwritable"),
        ({"effort": "very high"}, "effort_unwritable"),
        ({"output_limit": 0}, "limit_unwritable"),
        ({"context": 29_999}, "context_too_small"),
        ({"instruction": " /help"}, "instruction_unusable"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "base_url_unusable"),
        ({"env": {"https_proxy": "http://proxy"}}, "env_reserved"),
        ({"env": {"QWEN_HOME": "/x"}}, "env_reserved"),
        ({"env": {"NODE_OPTIONS": "--require x"}}, "env_reserved"),
    ],
)
def test_what_it_would_misread_is_refused_by_name(changed: dict[str, object], refusal: str) -> None:
    with pytest.raises(RefusedError) as refused:
        QwenCode().plan(replace(PLAIN, **changed))  # type: ignore[arg-type]  # any field
    assert refused.value.refusal.id == refusal
