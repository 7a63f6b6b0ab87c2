"""Which body is denied for which field, in every dialect, and which one passes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.request_bodies import CHAT, DENIED, GEMINI, HARMLESS
from stanchion.broker.plane.fields.policy import DeniedField, first_denied
from stanchion.broker.plane.fields.table import RULES, names
from stanchion.protocol.dialects import Dialect

NOTHING: frozenset[str] = frozenset()


def found(dialect: Dialect, body: dict[str, object], *allowed: str) -> str | None:
    denied = first_denied(dialect, body, frozenset(allowed))
    return None if denied is None else denied.name


@pytest.mark.parametrize(("dialect", "body"), HARMLESS)
def test_what_a_harness_needs_passes(dialect: Dialect, body: dict[str, object]) -> None:
    assert first_denied(dialect, body, NOTHING) is None


@pytest.mark.parametrize(("dialect", "body", "name"), DENIED)
def test_what_reaches_further_is_denied_and_can_be_allowed_by_its_name(
    dialect: Dialect, body: dict[str, object], name: str
) -> None:
    assert found(dialect, body) == name
    assert found(dialect, body, *(set(names()) - {name})) == name
    assert found(dialect, body, *names()) is None


def test_every_name_of_the_table_is_denied_by_some_body() -> None:
    assert {name for _, _, name in DENIED} == set(names())


def test_a_stored_prompt_is_a_field_of_one_dialect() -> None:
    assert found(CHAT, {"prompt": "text of a legacy completion"}) is None


@pytest.mark.parametrize("name", ["Store", "STORE", "s_tore", "\u017ftore"])
def test_other_spellings_of_a_denied_name_are_denied(name: str) -> None:
    assert found(CHAT, {name: True}) == "store"


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (CHAT, {"max_tokens": 5, "max_completion_tokens": 6}),
        (CHAT, {"max_tokens": 5, "max_output_tokens": 6}),
        (CHAT, {"max_tokens": 5, "Max_Completion_Tokens": 6}),
        (CHAT, {"max_tokens": 5, "max_new_tokens": 6}),
        (CHAT, {"max_tokens": 5, "options": {"num_predict": -1}}),
        (CHAT, {"reasoning_effort": "max", "chat_template_kwargs": {"reasoning_effort": "low"}}),
        (CHAT, {"reasoning_effort": "max", "reasoning": {"Effort": "low"}}),
        (GEMINI, {"generationConfig": {"maxOutputTokens": 5}, "max_output_tokens": 6}),
        (CHAT, {"reasoning_effort": "max", "reasoning": {"effort": "low"}}),
        (CHAT, {"max_tokens": 5, "Max_Tokens": 6}),
        (CHAT, {"max_tokens": 5, "maxTokens": 5}),
        (GEMINI, {"generationConfig": {}, "generation_config": {}}),
        (GEMINI, {"generationConfig": {"maxOutputTokens": 5, "max_output_tokens": 6}}),
        (
            GEMINI,
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": 1, "thinking_level": 2}}},
        ),
    ],
)
def test_a_setting_said_twice_is_denied_whatever_is_allowed(
    dialect: Dialect, body: dict[str, object]
) -> None:
    assert found(dialect, body, *names()) == "twin_fields"


def test_the_record_names_the_field_in_the_tables_words_only() -> None:
    assert DeniedField("store", "store").words == "store"
    denied = first_denied(CHAT, {"x": {"Image_URL": "http://secret.example"}}, NOTHING)
    assert denied is not None
    assert denied.words == "remote_url (image_url)"


_keys = st.sampled_from(
    [key for rule in RULES for key in rule.keys] + ["tools", "type", "source", "input", "x"]
)
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=15,
)


@given(st.sampled_from(Dialect), st.dictionaries(_keys, _json, max_size=5))
def test_any_body_is_decided(dialect: Dialect, body: dict[str, object]) -> None:
    denied = first_denied(dialect, body, NOTHING)
    assert denied is None or denied.name in {*names(), "twin_fields"}
