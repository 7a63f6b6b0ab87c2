from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import Settings, Written
from stanchion.harness_adapters.claude_code import config
from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.ANTHROPIC_MESSAGES)

SETTINGS = f"{config.folder(HOME)}/settings.json"


def understood(settings: Settings, **changed: str) -> Written:
    written = {file.path: (file.text or "").encode() for file in config.files(HOME)}
    return config.understood({**config.environment(settings), **changed}, written)


@pytest.mark.parametrize("limit", [1, 8_000, 64_000, 128_000, 200_000])
@pytest.mark.parametrize("effort", ["low", "medium", "high", "xhigh", "max", "brand-new"])
@pytest.mark.parametrize("context", [None, 200_000])
def test_what_is_written_is_understood_as_it_was_meant(
    limit: int, effort: str, context: int | None
) -> None:
    found = understood(replace(PLAIN, output_limit=limit, effort=effort, context=context))
    assert found == Written(
        model="future-9",
        base_url="http://127.0.0.1:4711",
        output_limit=limit,
        context=context,
        effort=effort,
    )


def test_only_what_the_variables_cannot_say_goes_into_the_body() -> None:
    assert config.BODY_NAME not in config.environment(PLAIN)
    env = config.environment(replace(PLAIN, output_limit=200_000, effort="ultra"))
    assert env[config.BODY_NAME] == '{"max_tokens": 200000, "output_config": {"effort": "ultra"}}'
    assert config.EFFORT_NAME not in env


def test_a_thinking_budget_goes_into_the_body_and_is_read_back() -> None:
    settings = replace(PLAIN, thinking_budget=20_000)
    found = understood(settings)
    assert (found.thinking_budget, found.output_limit) == (20_000, PLAIN.output_limit)
    for body in ('{"thinking": 3}', '{"thinking": {"budget_tokens": true}}'):
        assert understood(settings, **{config.BODY_NAME: body}).thinking_budget is None


def test_the_task_cannot_take_our_variables_away() -> None:
    env = config.environment(
        replace(PLAIN, env={"HOME": "/x", "no_proxy": "a.example", "TERM": "x", "PATH": "/p"})
    )
    assert (env["HOME"], env["TERM"], env["PATH"]) == (HOME, "dumb", "/p")
    assert env["NO_PROXY"] == env["no_proxy"] == "a.example,127.0.0.1"
    assert config.environment(PLAIN)["NO_PROXY"] == "127.0.0.1"


def test_each_part_of_it_asks_the_same_model() -> None:
    env = config.environment(PLAIN)
    named = {value for name, value in env.items() if name.endswith("_MODEL")}
    assert named == {"future-9"}


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ({config.LIMIT_NAME: "128k"}, 32_000),
        ({config.LIMIT_NAME: "-1"}, 32_000),
        ({config.LIMIT_NAME: ""}, 32_000),
        ({config.LIMIT_NAME: "200000"}, 128_000),
        ({config.BODY_NAME: '{"max_tokens": true}'}, None),
        ({config.BODY_NAME: '{"max_tokens": "9"}'}, None),
        ({"ANTHROPIC_MODEL": "claude-opus-4-1"}, 32_000),
    ],
)
def test_a_limit_is_read_with_the_clamps_it_will_meet(
    changed: dict[str, str], limit: int | None
) -> None:
    assert understood(PLAIN, **changed).output_limit == limit


@pytest.mark.parametrize(
    ("changed", "effort"),
    [
        ({config.EFFORT_NAME: "ultra"}, "high"),
        ({config.EFFORT_NAME: ""}, "high"),
        ({config.BODY_NAME: '{"output_config": {"effort": 3}}'}, None),
        ({"ANTHROPIC_MODEL": "claude-opus-4-5"}, None),
        ({"ANTHROPIC_MODEL": "claude-sonnet-4-6"}, "max"),
    ],
)
def test_an_effort_is_read_as_it_will_be_sent(changed: dict[str, str], effort: str | None) -> None:
    assert understood(PLAIN, **changed).effort == effort


def test_two_windows_are_none() -> None:
    settings = replace(PLAIN, context=200_000)
    assert understood(settings, **{config.COMPACT_NAME: "1"}).context is None
    both = {config.COMPACT_NAME: "x", config.WINDOW_NAME: "x"}
    assert understood(settings, **both).context is None


@pytest.mark.parametrize("text", [b'{"env": {"ANTHROPIC_BASE_URL": "x"}}', b"{", b"[]"])
def test_settings_that_say_anything_are_not_ours(text: bytes) -> None:
    found = config.understood(config.environment(PLAIN), {SETTINGS: text})
    assert found == Written(model=None, base_url=None, output_limit=None, context=None, effort=None)
