from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.opencode.check import check
from stanchion.harness_adapters.opencode.packages import CEILINGS, PACKAGES
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.refusal import Refusal, RefusedError
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.OPENAI_CHAT)

DIALECTS = tuple(PACKAGES)
MESSAGES = Dialect.ANTHROPIC_MESSAGES


def refusal(**changes: object) -> Refusal:
    with pytest.raises(RefusedError) as refused:
        check(replace(PLAIN, **changes), DIALECTS)  # type: ignore[arg-type]
    return refused.value.refusal


def test_a_plain_launch_passes() -> None:
    check(PLAIN, DIALECTS)
    check(replace(PLAIN, context=400_000, effort=None, output_limit=200_000), DIALECTS)


@pytest.mark.parametrize(
    "model", ["org/Sub.mod-el_1:8b@2026+x~y", "gpt-5.9", "claude-opus-4-1-custom", "9"]
)
def test_model_ids_that_reach_the_wire_unchanged_pass(model: str) -> None:
    check(replace(PLAIN, model=model), DIALECTS)


@pytest.mark.parametrize(
    "model",
    ["", "/m", "a b", "a{env:HOME}", "a\nb", "a\x00", "ä", 'a"b', "a\\b", "__proto__", "a "],
)
def test_a_model_id_that_opencode_would_change_is_refused(model: str) -> None:
    assert refusal(model=model).id == "model_unwritable"


@pytest.mark.parametrize("value", [0, -1, 2**53])
def test_a_limit_that_opencode_would_replace_by_its_default_is_refused(value: int) -> None:
    assert refusal(output_limit=value).id == "limit_unwritable"
    assert refusal(context=value).field == "limits.context"


def test_a_window_that_would_be_compacted_after_every_step_is_refused() -> None:
    assert refusal(context=20_000).id == "context_too_small"
    assert refusal(context=8_000, output_limit=8_000).id == "context_too_small"
    check(replace(PLAIN, context=20_001), DIALECTS)
    check(replace(PLAIN, context=8_001, output_limit=8_000), DIALECTS)


@pytest.mark.parametrize("word", EFFORT_WORDS[Dialect.OPENAI_CHAT] + ("ultra", "MAX", "x-1.5"))
def test_every_plain_effort_word_passes(word: str) -> None:
    check(replace(PLAIN, effort=word), DIALECTS)


@pytest.mark.parametrize("word", EFFORT_WORDS[MESSAGES])
def test_every_word_of_the_dialect_passes(word: str) -> None:
    check(replace(PLAIN, effort=word, dialect=MESSAGES), DIALECTS)


@pytest.mark.parametrize("word", ["none", "minimal", "ultra", "MAX"])
def test_a_word_that_the_package_does_not_take_is_refused(word: str) -> None:
    refused = refusal(effort=word, dialect=MESSAGES)
    assert refused.id == "effort_unwritable"
    assert "low, medium, high, xhigh, max" in refused.sentence()


@pytest.mark.parametrize(("part", "most"), CEILINGS)
def test_a_limit_that_the_package_would_lower_is_refused_by_the_models_name(
    part: str, most: int
) -> None:
    model = f"gateway/{part}-x"
    check(replace(PLAIN, model=model, output_limit=most, dialect=MESSAGES), DIALECTS)
    refused = refusal(model=model, output_limit=most + 1, dialect=MESSAGES)
    assert (refused.id, refused.value) == ("limit_clamped", str(most + 1))
    assert str(most) in refused.sentence()
    assert part[:13] in refused.sentence()
    assert model in refused.sentence()
    check(replace(PLAIN, model=model, output_limit=most + 1), DIALECTS)


@pytest.mark.parametrize(
    "model", ["claude-future-9", "claude-3-5-sonnet", "glm-9", "opus-4-1", "Claude-Opus-4-1"]
)
def test_a_model_without_such_words_keeps_any_limit(model: str) -> None:
    check(replace(PLAIN, model=model, output_limit=200_000, dialect=MESSAGES), DIALECTS)


@pytest.mark.parametrize("word", ["", " ", "very high", "{env:X}", "a\n", "ä"])
def test_an_effort_that_would_be_dropped_or_changed_is_refused(word: str) -> None:
    assert refusal(effort=word).id == "effort_unwritable"


@pytest.mark.parametrize("text", ["", " \n\t", "\ud800"])
def test_an_instruction_that_opencode_cannot_take_is_refused_without_showing_it(text: str) -> None:
    refused = refusal(instruction=text)
    assert refused.id == "instruction_unusable"
    assert refused.value is None


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1", "http://127.0.0.1:1/v1", "https://127.0.0.1:1", "http://x:1"]
)
def test_only_the_relay_is_an_address(url: str) -> None:
    assert refusal(base_url=url).id == "base_url_unusable"


@pytest.mark.parametrize("path", ["", "home", "/a{env:B}", "/a\nb"])
def test_paths_are_absolute_and_plain(path: str) -> None:
    assert refusal(home=path).field == "home"
    assert refusal(package_dir=path).field == "package_dir"


@pytest.mark.parametrize("name", ["OPENCODE_CONFIG", "opencode_permission", "BUN_BE_BUN"])
def test_the_task_cannot_steer_the_harness_by_variables(name: str) -> None:
    refused = refusal(env={name: "secret"})
    assert refused.id == "env_reserved"
    assert "secret" not in refused.sentence()


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A", "\0"), ("A\0", "x")])
def test_variables_that_no_process_can_have_are_refused(name: str, value: str) -> None:
    assert refusal(env={name: value}).id == "env_unusable"


def test_a_dialect_it_does_not_speak_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        check(replace(PLAIN, dialect=Dialect.GEMINI), DIALECTS[:1])
    assert refused.value.refusal.id == "dialect_unsupported"


def test_gemini_takes_no_id_with_a_slash_but_any_word_since_the_broker_writes_the_unknown() -> None:
    gemini = {"dialect": Dialect.GEMINI, "effort": "high"}
    check(replace(PLAIN, **gemini), DIALECTS)  # type: ignore[arg-type]
    assert refusal(**{**gemini, "model": "models/future-9"}).id == "model_unwritable"
    check(replace(PLAIN, **{**gemini, "effort": "xhigh"}), DIALECTS)  # type: ignore[arg-type]


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_passes_survives_the_substitution_in_its_configuration(
    model: str, effort: str
) -> None:
    try:
        check(replace(PLAIN, model=model, effort=effort), DIALECTS)
    except RefusedError:
        return
    assert not set("{}\"'\\ ") & set(model + effort)
    assert (model + effort).isprintable()
