from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.command import templates
from unit.harness_adapters.command.own_programs import LAUNCH

WORDS = st.text(st.characters(blacklist_characters="{}", blacklist_categories=["Cs"]), max_size=9)


def test_every_name_stands_for_something() -> None:
    known = templates.values(replace(LAUNCH, thinking_budget=16_000))
    assert tuple(known) == templates.NAMES
    assert None not in known.values()


def test_only_double_braces_are_places() -> None:
    text = '{"a": {"b": "${HOME} {x} {{ model }}"}}'
    assert templates.names_in(text) == ("model",)
    assert templates.filled(text, {"model": "m"}) == '{"a": {"b": "${HOME} {x} m"}}'


def test_a_value_is_never_taken_for_a_place() -> None:
    known = {"instruction": "say {{key}}", "key": "k"}
    assert templates.filled("{{instruction}}!", known) == "say {{key}}!"


@given(before=WORDS, value=st.text("abc-:/.0", min_size=1), after=WORDS)
def test_what_was_filled_in_is_read_again(before: str, value: str, after: str) -> None:
    template = f"{before} {{{{model}}}} {after}"
    text = templates.filled(template, {"model": value})
    assert templates.said(template, text) == {"model": value}
    assert templates.said(template, text + "x") is None


def test_two_places_of_one_name_must_agree() -> None:
    assert templates.said("{{model}},{{model}}", "a,a") == {"model": "a"}
    assert templates.said("{{model}},{{model}}", "a,b") is None
