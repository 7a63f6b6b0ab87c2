import json
from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import Settings, Written
from stanchion.harness_adapters.pi import Pi, config
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters import plain_launch
from unit.harness_adapters.plain_launch import HOME, plain

PLAIN = plain(Dialect.OPENAI_CHAT, model="maker/future-9:large")
MODELS = f"{config.folder(HOME)}/models.json"


def read_back(settings: Settings, **changed: object) -> Written:
    """What the adapter reads from what it planned, the one model changed by these."""
    return plain_launch.read_back(
        Pi(),
        settings,
        MODELS,
        lambda table: table["providers"]["stanchion"]["models"][0].update(changed),
    )


@pytest.mark.parametrize("dialect", config.APIS)
@pytest.mark.parametrize("limit", [1, 8_000, 64_000, 128_000, 200_000])
@pytest.mark.parametrize("effort", [None, "none", "max", "brand-new"])
@pytest.mark.parametrize("context", [None, 200_000])
def test_what_is_written_is_understood_as_it_was_meant(
    dialect: Dialect, limit: int, effort: str | None, context: int | None
) -> None:
    settings = replace(PLAIN, dialect=dialect, output_limit=limit, effort=effort, context=context)
    assert read_back(settings) == Written(
        model="maker/future-9:large",
        base_url="http://127.0.0.1:4711",
        output_limit=limit,
        context=context,
        effort=effort,
    )


@pytest.mark.parametrize("context", [None, 200_000])
def test_the_window_it_is_told_leaves_room_for_the_whole_limit_however_full_it_is(
    context: int | None,
) -> None:
    plan = Pi().plan(replace(PLAIN, output_limit=2**40, context=context))
    (models, _) = plan.files
    model = json.loads(models.text or "")["providers"]["stanchion"]["models"][0]
    assert model["contextWindow"] - model["maxTokens"] == config.ENDLESS


@pytest.mark.parametrize(
    "changed",
    [
        {"maxTokens": "128k"},
        {"maxTokens": True},
        {"contextWindow": None},
        {"samplingParams": {"max_tokens": 9}},
    ],
)
def test_a_model_that_says_more_or_less_is_not_understood(changed: dict[str, object]) -> None:
    assert read_back(PLAIN, **changed).output_limit is None


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"providers": 3}'])
def test_a_damaged_file_is_unknown(text: bytes) -> None:
    found = Pi().read_back(Pi().plan(PLAIN).env, {MODELS: text})
    assert (found.model, found.output_limit, found.effort) == (None, None, None)


def test_no_other_level_of_thinking_is_to_be_had_than_the_word_asked_for() -> None:
    plan = Pi().plan(PLAIN)
    model = json.loads(plan.files[0].text or "")["providers"]["stanchion"]["models"][0]
    said = {level: word for level, word in model["thinkingLevelMap"].items() if word is not None}
    assert said == {config.LEVEL: "max"}
    assert plan.argv[plan.argv.index("--thinking") + 1] == config.LEVEL
    silent = Pi().plan(replace(PLAIN, effort=None))
    assert silent.argv[silent.argv.index("--thinking") + 1] == config.OFF


def test_it_is_started_by_its_own_node_and_told_by_standard_input() -> None:
    plan = Pi().plan(PLAIN)
    assert plan.argv[0] == "/opt/harness/runtime/bin/node"
    assert plan.stdin == PLAIN.instruction.encode()
    assert PLAIN.instruction not in plan.argv
    assert all(file.path.startswith(HOME) for file in plan.files)
    assert {"--no-approve", "--no-extensions", "--no-context-files"} <= set(plan.argv)
    assert Pi().corrections(PLAIN.dialect, 200_000) == Pi().side_requests(PLAIN.dialect) == ()


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"dialect": Dialect.GEMINI}, "dialect_unsupported"),
        ({"model": "a model"}, "model_unwritable"),
        ({"effort": "very high"}, "effort_unwritable"),
        ({"output_limit": 0}, "limit_unwritable"),
        ({"context": 39_999}, "context_too_small"),
        ({"thinking_budget": 2_000}, "thinking_budget_refused"),
        ({"instruction": "/help"}, "instruction_unusable"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "base_url_unusable"),
        ({"env": {"PI_OFFLINE": "0"}}, "env_reserved"),
        ({"env": {"NODE_OPTIONS": "--require x"}}, "env_reserved"),
    ],
)
def test_what_it_would_misread_is_refused_by_name(changed: dict[str, object], refusal: str) -> None:
    with pytest.raises(RefusedError) as refused:
        Pi().plan(replace(PLAIN, **changed))  # type: ignore[arg-type]  # any field
    assert refused.value.refusal.id == refusal
