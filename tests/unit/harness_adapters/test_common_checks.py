from collections.abc import Callable
from dataclasses import replace

import pytest

from stanchion.harness_adapters import common_checks as common
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import Refusal, RefusedError
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.ANTHROPIC_MESSAGES)

RESERVED = common.Reserved(prefixes=("SOME_", "OTHER"), names=("EXACTLY",))
DIALECTS = (Dialect.GEMINI, Dialect.OPENAI_CHAT)


def refusal(check: Callable[[], None]) -> Refusal:
    with pytest.raises(RefusedError) as refused:
        check()
    return refused.value.refusal


def test_a_dialect_is_refused_with_the_ones_that_are_spoken() -> None:
    common.check_dialect("it", Dialect.OPENAI_CHAT, DIALECTS)
    refused = refusal(lambda: common.check_dialect("it", Dialect.ANTHROPIC_MESSAGES, DIALECTS))
    assert (refused.id, refused.field) == ("dialect_unsupported", "dialect")
    assert "it speaks gemini, openai_chat only" in refused.sentence()
    assert "--dialect gemini" in refused.remedy


@pytest.mark.parametrize("model", ["", "/m", "a b", "m[1m]", "a{x}", "a\n", "ä", 'a"b', "Sonnet"])
def test_a_model_id_that_would_be_changed_is_refused(model: str) -> None:
    refused = refusal(lambda: common.check_model("it", model, ("sonnet",)))
    assert (refused.id, refused.field, refused.value) == ("model_unwritable", "--model", model)
    common.check_model("it", "org/Sub.mod-el_1:8b@2026+x~y", ("sonnet",))


@pytest.mark.parametrize("word", ["", " ", "very high", "{x}", "a\n", "ä"])
def test_an_effort_is_one_plain_word(word: str) -> None:
    assert refusal(lambda: common.check_effort_form("it", word)).id == "effort_unwritable"
    common.check_effort_form("it", None)
    common.check_effort_form("it", "brand-new_1.5")


@pytest.mark.parametrize("value", [0, -1, 2**53])
def test_only_a_positive_number_that_a_double_keeps_is_a_limit(value: int) -> None:
    refused = refusal(lambda: common.check_tokens("it", "limits.context", value))
    assert (refused.id, refused.field) == ("limit_unwritable", "limits.context")
    for fine in (None, 1, 2**53 - 1):
        common.check_tokens("it", "limits.context", fine)


@pytest.mark.parametrize("text", ["", " \n", "\ud800", " /model x"])
def test_an_unusable_instruction_is_refused_without_showing_it(text: str) -> None:
    refused = refusal(lambda: common.check_instruction("it", text, command_mark="/"))
    assert (refused.id, refused.value) == ("instruction_unusable", None)
    common.check_instruction("it", "/model x")


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1", "http://127.0.0.1:1/v1", "https://127.0.0.1:1", "http://x:1"]
)
def test_only_the_relay_is_an_address(url: str) -> None:
    refused = refusal(lambda: common.check_places(replace(PLAIN, base_url=url)))
    assert refused.id == "base_url_unusable"


@pytest.mark.parametrize("path", ["", "home", "/a\nb", "/a{b"])
def test_a_path_is_absolute_and_holds_nothing_that_is_excluded(path: str) -> None:
    for field in ("home", "package_dir"):
        odd = replace(PLAIN, **{field: path})  # type: ignore[arg-type]  # one of two texts
        refused = refusal(lambda odd=odd: common.check_places(odd, excluded="{}"))  # type: ignore[misc]  # no default of its own
        assert (refused.id, refused.field) == ("path_unusable", field)
    common.check_places(replace(PLAIN, home="/a{b"))


@pytest.mark.parametrize("name", ["SOME_X", "other", "Exactly"])
def test_a_variable_that_steers_the_harness_is_refused_without_its_value(name: str) -> None:
    refused = refusal(
        lambda: common.check_environment(replace(PLAIN, env={name: "secret"}), RESERVED)
    )
    assert (refused.id, refused.field) == ("env_reserved", f"env.{name}")
    assert "secret" not in refused.sentence()
    common.check_environment(replace(PLAIN, env={"EXACTLY_NOT": "x"}), RESERVED)


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A", "\0"), ("A\0", "x")])
def test_variables_that_no_process_can_have_are_refused(name: str, value: str) -> None:
    refused = refusal(lambda: common.check_environment(replace(PLAIN, env={name: value}), RESERVED))
    assert refused.id == "env_unusable"


def test_the_words_of_the_rule_name_every_reserved_kind() -> None:
    assert RESERVED.words() == "variables that begin with SOME_ or OTHER or are EXACTLY"
    assert common.Reserved(prefixes=("A_",)).words() == "variables that begin with A_"
