import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.base import Settings, Written
from stanchion.harness_adapters.opencode import config
from stanchion.harness_adapters.opencode.packages import PACKAGES
from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.OPENAI_CHAT)

FOLDER = f"{HOME}/.config/opencode"
NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def understood(settings: Settings) -> Written:
    written = {
        file.path: file.text.encode()
        for file in config.files(settings.home)
        if file.text is not None
    }
    return config.understood(config.environment(settings), written)


COMPATIBLE = PACKAGES[Dialect.OPENAI_CHAT].npm
ANTHROPIC = PACKAGES[Dialect.ANTHROPIC_MESSAGES].npm


def env_with(
    entry: dict[str, object],
    cap: str | None = None,
    *,
    npm: str = COMPATIBLE,
    model: str = "m",
    **top: object,
) -> dict[str, str]:
    """An environment whose one model has this entry."""
    account = {
        "npm": npm,
        "options": {"baseURL": "http://127.0.0.1:1/v1"},
        "models": {model: entry},
    }
    text = json.dumps({"model": f"p/{model}", "provider": {"p": account}, **top})
    env = {"HOME": HOME, config.CONFIG_NAME: text}
    return env if cap is None else {**env, config.CAP_NAME: cap}


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC_MESSAGES, Dialect.GEMINI])
def test_a_thinking_budget_is_understood_within_the_declared_limit(dialect: Dialect) -> None:
    settings = replace(
        PLAIN, dialect=dialect, effort=None, output_limit=64_000, thinking_budget=20_000
    )
    found = understood(settings)

    assert (found.output_limit, found.thinking_budget, found.effort) == (64_000, 20_000, None)


@pytest.mark.parametrize("limit", [8_000, 32_000, 64_000, 128_000, 200_000])
@pytest.mark.parametrize("context", [None, 400_000])
@pytest.mark.parametrize("effort", [None, "high", "low"])
@pytest.mark.parametrize("dialect", list(PACKAGES))
def test_what_is_written_is_understood_as_it_was_declared(
    limit: int, context: int | None, effort: str | None, dialect: Dialect
) -> None:
    settings = replace(PLAIN, output_limit=limit, context=context, effort=effort, dialect=dialect)
    assert understood(settings) == Written(
        model="future-9",
        base_url="http://127.0.0.1:4711",
        output_limit=limit,
        context=context,
        effort=effort,
    )


@pytest.mark.parametrize(
    ("limit", "cap", "wire"),
    [
        (8_000, None, 8_000),
        (8_000, "64000", 8_000),
        (8_000, "128000", 8_000),
        (64_000, None, 32_000),
        (64_000, "64000", 64_000),
        (64_000, "128000", 64_000),
        (128_000, None, 32_000),
        (128_000, "64000", 64_000),
        (128_000, "128000", 128_000),
        (0, None, 32_000),
        (0, "64000", 64_000),
        (0, "128000", 128_000),
        (None, None, 32_000),
        (None, "64000", 64_000),
        (None, "128000", 128_000),
        (128_000, "128k", 32_000),
        (128_000, "-5", 32_000),
        (128_000, "0", 32_000),
        (128_000, "", 32_000),
    ],
)
def test_the_cap_is_understood_as_it_was_measured_on_the_wire(
    limit: int | None, cap: str | None, wire: int
) -> None:
    entry: dict[str, object] = {"name": "x"} if limit is None else {"limit": {"output": limit}}
    assert config.understood(env_with(entry, cap), {}).output_limit == wire


def test_an_option_of_the_model_beats_both_limits() -> None:
    entry: dict[str, object] = {"limit": {"output": 8_000}, "options": {"max_tokens": 64_000}}
    assert config.understood(env_with(entry), {}).output_limit == 64_000


def test_under_the_id_openai_no_limit_is_sent_at_all() -> None:
    text = env_with({"limit": {"output": 8_000}})[config.CONFIG_NAME]
    env = {config.CONFIG_NAME: text.replace('"p/m"', '"openai/m"').replace('"p":', '"openai":')}
    assert config.understood(env, {}).output_limit is None
    without = {**env, "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}
    assert config.understood(without, {}).output_limit == 8_000


@pytest.mark.parametrize(
    ("options", "effort"),
    [
        ({"reasoningEffort": "max"}, "max"),
        ({"reasoning_effort": "max"}, None),
        ({"reasoningEffort": "low", "reasoning_effort": "max"}, "low"),
        ({"reasoningEffort": 3}, None),
        ({}, None),
    ],
)
def test_only_the_one_spelling_that_reaches_the_wire_is_an_effort(
    options: dict[str, object], effort: str | None
) -> None:
    assert config.understood(env_with({"options": options}), {}).effort == effort


@pytest.mark.parametrize(
    ("options", "effort"),
    [
        ({"effort": "max"}, "max"),
        ({"effort": "max", "thinking": {"type": "adaptive"}}, "max"),
        ({"reasoningEffort": "max"}, None),
        ({"output_config": {"effort": "max"}}, None),
        ({"effort": "ultra"}, None),
        ({"effort": 3}, None),
        ({}, None),
    ],
)
def test_the_other_package_has_a_spelling_and_words_of_its_own(
    options: dict[str, object], effort: str | None
) -> None:
    assert config.understood(env_with({"options": options}, npm=ANTHROPIC), {}).effort == effort
    named = env_with({"options": options}, npm=ANTHROPIC, model="gpt-5.9")
    assert config.understood(named, {}).effort == effort


@pytest.mark.parametrize(
    ("options", "wire"),
    [
        ({}, 8_000),
        ({"max_tokens": 64_000}, 8_000),
        ({"thinking": {"type": "adaptive"}}, 8_000),
        ({"thinking": {"type": "enabled", "budgetTokens": 16_000}}, 24_000),
        ({"thinking": {"type": "enabled", "budget_tokens": 16_000}}, 9_024),
        ({"thinking": {"type": "disabled", "budgetTokens": 16_000}}, 8_000),
    ],
)
def test_a_thinking_budget_is_added_to_the_limit_as_it_was_measured(
    options: dict[str, object], wire: int
) -> None:
    entry: dict[str, object] = {"limit": {"output": 8_000}, "options": options}
    assert config.understood(env_with(entry, npm=ANTHROPIC), {}).output_limit == wire


def test_an_agents_thinking_budget_counts_too() -> None:
    entry: dict[str, object] = {"limit": {"output": 8_000}}
    agent = {"build": {"options": {"thinking": {"type": "enabled", "budgetTokens": 5}}}}
    env = env_with(entry, npm=ANTHROPIC, agent=agent)
    assert config.understood(env, {}).output_limit == 8_005


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ("claude-opus-4-1-20250805", 32_000),
        ("claude-opus-4-10", 32_000),
        ("proxy/claude-sonnet-4-5", 64_000),
        ("claude-opus-4-6", 128_000),
        ("claude-3-haiku-x", 4_096),
        ("claude-3-5-sonnet", 200_000),
        ("claude-future-9", 200_000),
        ("glm-9", 200_000),
    ],
)
def test_a_limit_is_lowered_by_words_in_the_models_id(model: str, wire: int) -> None:
    entry: dict[str, object] = {"limit": {"output": 200_000}}
    env = env_with(entry, "200000", npm=ANTHROPIC, model=model)
    assert config.understood(env, {}).output_limit == wire
    assert config.understood(env_with(entry, "200000", model=model), {}).output_limit == 200_000


def test_effort_is_written_with_adaptive_thinking_and_nothing_without_it() -> None:
    settings = replace(PLAIN, dialect=Dialect.ANTHROPIC_MESSAGES)
    spoken = json.dumps(config.configuration(settings))
    assert '"npm": "@ai-sdk/anthropic"' in spoken
    assert spoken.count('{"effort": "max", "thinking": {"type": "adaptive"}}') == 2
    silent = json.dumps(config.configuration(replace(settings, effort=None)))
    assert "thinking" not in silent
    assert "effort" not in silent.lower()


def test_responses_have_the_same_word_for_effort_and_no_way_round_the_limit() -> None:
    settings = replace(PLAIN, dialect=Dialect.OPENAI_RESPONSES)
    spoken = json.dumps(config.configuration(settings))
    assert '"npm": "@ai-sdk/openai"' in spoken
    assert spoken.count('{"reasoningEffort": "max"}') == 2
    assert understood(settings) == replace(understood(PLAIN))
    entry: dict[str, object] = {"limit": {"output": 9}, "options": {"max_tokens": 7}}
    chat, responses = COMPATIBLE, PACKAGES[Dialect.OPENAI_RESPONSES].npm
    assert config.understood(env_with(entry, npm=chat), {}).output_limit == 7
    assert config.understood(env_with(entry, npm=responses), {}).output_limit == 9


def test_gemini_has_its_level_among_the_thinking_settings_and_a_path_of_its_own() -> None:
    settings = replace(PLAIN, dialect=Dialect.GEMINI, effort="high")
    spoken = json.dumps(config.configuration(settings))
    assert '"npm": "@ai-sdk/google"' in spoken
    assert '"baseURL": "http://127.0.0.1:4711/v1beta"' in spoken
    level = '{"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}}'
    assert spoken.count(level) == 2
    silent = json.dumps(config.configuration(replace(settings, effort=None)))
    assert "thinking" not in silent
    for options in ({"reasoningEffort": "high"}, {"thinkingConfig": {"thinkingLevel": "max"}}):
        entry: dict[str, object] = {"limit": {"output": 9}, "options": options}
        env = env_with(entry, npm=PACKAGES[Dialect.GEMINI].npm)
        assert config.understood(env, {}).effort is None


def test_the_main_agents_effort_beats_the_models() -> None:
    entry: dict[str, object] = {"options": {"reasoningEffort": "max"}}
    agent = {"build": {"options": {"reasoningEffort": "low"}}}
    assert config.understood(env_with(entry, agent=agent), {}).effort == "low"
    short = {"build": {"reasoningEffort": "high"}}
    assert config.understood(env_with(entry, agent=short), {}).effort == "high"


@pytest.mark.parametrize(
    ("model", "effort"),
    [("gpt-5.9-x", "medium"), ("gpt-5-chat-1", None), ("gpt-5-pro", None), ("gpt-4.1", None)],
)
def test_the_effort_that_opencode_adds_by_itself_is_said(model: str, effort: str | None) -> None:
    assert understood(replace(PLAIN, model=model, effort=None)).effort == effort
    assert understood(replace(PLAIN, model=model, effort="max")).effort == "max"


def test_a_file_in_its_folder_is_seen_but_cannot_beat_ours() -> None:
    env = config.environment(PLAIN)
    foreign = json.dumps(
        {
            "model": "other/m",
            "agent": {"build": {"options": {"reasoningEffort": "low"}}},
            "provider": {config.PROVIDER: {"models": {"future-9": {"limit": {"output": 1}}}}},
        }
    ).encode()
    seen = config.understood(env, {f"{FOLDER}/opencode.json": foreign})
    assert (seen.model, seen.output_limit, seen.effort) == ("future-9", 128_000, "max")
    unspecified = config.environment(replace(PLAIN, effort=None))
    assert config.understood(unspecified, {f"{FOLDER}/opencode.json": foreign}).effort == "low"


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b"\xff", b"null", b'{"model": "{env:HOME}/m"}', b'{"a": "{file:/x}"}'],
)
def test_what_it_would_not_read_as_plain_json_is_unknown(text: bytes) -> None:
    assert config.understood(config.environment(PLAIN), {f"{FOLDER}/config.json": text}) == NOTHING


def test_another_provider_package_or_model_is_unknown() -> None:
    text = env_with({"limit": {"output": 1}})[config.CONFIG_NAME]
    for other in (text.replace(COMPATIBLE, "@ai-sdk/xai"), text.replace('"p/m"', '"p/n"'), "{}"):
        assert config.understood({config.CONFIG_NAME: other}, {}) == NOTHING
    assert config.understood({}, {}) == NOTHING


def test_the_window_is_the_whole_window_or_compaction_is_off() -> None:
    known = config.configuration(replace(PLAIN, context=400_000))
    assert known["compaction"] == {"auto": True}
    assert '"input": 400000' in json.dumps(known)
    unknown = config.configuration(PLAIN)
    assert unknown["compaction"] == {"auto": False}
    assert '"context": 0' in json.dumps(unknown)


def test_nothing_is_left_to_the_image_or_the_network() -> None:
    env = config.environment(replace(PLAIN, env={"HOME": "/x", "XDG_DATA_HOME": "/y", "A": "b"}))
    assert env["HOME"] == HOME
    assert env["XDG_DATA_HOME"].startswith(HOME)
    assert env["A"] == "b"
    assert env["PATH"].endswith("/bin")
    for place in ("OPENCODE_DB", "OPENCODE_TEST_HOME", "OPENCODE_TEST_MANAGED_CONFIG_DIR"):
        assert env[place].startswith(f"{HOME}/")
    for name in (
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_PURE",
    ):
        assert env[name] == "1"
    written = json.loads(env[config.CONFIG_NAME])
    assert written["small_model"] == written["model"] == "stanchion/future-9"
    assert written["agent"]["title"]["disable"] is True
    assert written["agent"]["build"]["model"] == written["model"]
    assert written["enabled_providers"] == [config.PROVIDER]
    options = written["provider"][config.PROVIDER]["options"]
    assert options["chunkTimeout"] == options["headerTimeout"] == config.HEADER_WAIT_S * 1000


def test_the_images_path_is_kept_and_the_relay_is_never_behind_a_proxy() -> None:
    env = config.environment(PLAIN)
    assert env["PATH"] == "/image/bin"
    assert env["NO_PROXY"] == "127.0.0.1"
    proxied = config.environment(replace(PLAIN, env={"no_proxy": "corp.example"}))
    assert proxied["NO_PROXY"] == proxied["no_proxy"] == "corp.example,127.0.0.1"


def test_its_folder_holds_all_that_it_would_install() -> None:
    files = {file.path: file for file in config.files(HOME)}
    assert files[f"{FOLDER}/node_modules"].text is None
    lock = json.loads(files[f"{FOLDER}/package-lock.json"].text or "")
    package = json.loads(files[f"{FOLDER}/package.json"].text or "")
    assert lock["packages"][""]["dependencies"] == package["dependencies"]
    assert package["dependencies"] == {"@opencode-ai/plugin": config.VERSION}


@given(st.dictionaries(st.text(), st.text()), st.binary())
def test_reading_back_never_fails(env: dict[str, str], text: bytes) -> None:
    config.understood({**env, config.CONFIG_NAME: text.decode(errors="replace")}, {})
    config.understood({"HOME": HOME}, {f"{FOLDER}/opencode.json": text})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "model",
                    "provider",
                    "p",
                    "m",
                    "models",
                    "limit",
                    "output",
                    "options",
                    "agent",
                    "npm",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_reading_back_never_fails_on_any_json(value: object) -> None:
    config.understood({config.CONFIG_NAME: json.dumps(value)}, {})
