import json

import pytest
from hypothesis import given

from fakes.any_json import ANY_JSON
from stanchion.harness_adapters.json_values import part, table_of, text, whole


@pytest.mark.parametrize("data", [b"", b"hello", b"[]", b"3", b"\xff{", b"[" * 99_999])
def test_what_is_no_object_is_an_empty_one(data: bytes) -> None:
    assert table_of(data) == {}


@given(ANY_JSON)
def test_any_text_has_a_table_and_any_table_has_parts(value: object) -> None:
    table = table_of(json.dumps({"a": value}).encode())
    assert table == {"a": value}
    assert part(table, "a") == (value if isinstance(value, dict) else {})
    assert part(table, "b") == {}


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), (0, 0), (-1, -1), (True, None), (3.0, None), ("3", None)]
)
def test_only_a_whole_number_is_one(value: object, number: int | None) -> None:
    assert whole(value) == number


@pytest.mark.parametrize(("value", "word"), [("a", "a"), ("", None), (3, None), (None, None)])
def test_only_a_text_with_something_in_it_is_one(value: object, word: str | None) -> None:
    assert text(value) == word
