import pytest

from stanchion.broker.plane.dialects.words import Words, short


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (-5, "-5"),
        (1.5, "1.5"),
        (10**400, "1" + "0" * 23),
        (True, "true"),
        (False, "false"),
        ("128000", "'128000'"),
        ("1e5", "'1e5'"),
        ("128k", "a text of 4 characters"),
        ("", "a text of 0 characters"),
        ("sk-CANARY-0123456789", "a text of 20 characters"),
        ("1" * 25, "a text of 25 characters"),
        ([1], "an array"),
        ({"a": 1}, "an object"),
    ],
)
def test_what_is_kept_is_short_and_never_a_text_that_may_be_anything(
    value: object, kept: str
) -> None:
    assert short(value) == kept


def test_a_value_of_its_type_is_read_as_it_is() -> None:
    words = Words()
    assert (words.text("a", ""), words.whole("b", 0), words.truth("c", False)) == ("", 0, False)
    assert words.malformed == {}


def test_absent_is_not_malformed() -> None:
    words = Words()
    assert (words.text("a", None), words.whole("b", None), words.truth("c", None)) == (None,) * 3
    assert words.malformed == {}


def test_a_value_of_another_type_is_malformed() -> None:
    words = Words()
    assert words.text("a", 3) is None
    assert words.whole("b", True) is None
    assert words.truth("c", "true") is None
    assert words.malformed == {"a": "3", "b": "true", "c": "a text of 4 characters"}


def test_the_last_word_stands() -> None:
    words = Words()
    for value in (3, "stop"):
        words.text("finish_raw", value)
    assert words.malformed == {}


def test_fields_that_say_the_same_are_one() -> None:
    words = Words()
    assert words.one("limit", {"a": None, "b": 5, "c": 5}) == ("b", 5)
    assert words.one("limit", {"a": None}) == (None, None)
    assert words.malformed == {}


def test_fields_that_disagree_are_malformed() -> None:
    words = Words()
    assert words.one("limit", {"a": 10, "b": "128k"}) == ("a", None)
    assert words.whole("limit", None) is None
    assert words.malformed == {"limit": "a 10, b a text of 4 characters"}


def test_what_is_inside_of_no_object_is_malformed() -> None:
    words = Words()
    assert words.inside("effort", {"effort": "max"}, "effort") == "max"
    assert words.inside("effort", None, "effort") is None
    assert words.malformed == {}
    assert words.inside("effort", "max", "effort") is None
    assert words.malformed == {"effort": "a text of 3 characters"}
