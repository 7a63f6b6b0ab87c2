import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.json_gate import MAX_DEPTH, BodyError, read_object


def test_an_ordinary_body_is_read() -> None:
    assert read_object(b' {"a": [1.50, {"b": null}], "\\u0063": "x"}\n') == {
        "a": [1.5, {"b": None}],
        "c": "x",
    }


@pytest.mark.parametrize(
    "body",
    [
        b'{"max_tokens":1,"max_tokens":2}',
        b'{"max_tokens":1,"max\\u005ftokens":2}',
        b'{"a":[{"b":1,"b":1}]}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'\xef\xbb\xbf{"a":1}',
        '{"a":1}'.encode("utf-16"),
        b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b'{"a":1} {"a":2}',
        b"[1]",
        b'"a"',
        b"null",
        b"",
        b'{"a":1,}',
        b"{'a':1}",
    ],
)
def test_what_two_readers_could_read_differently_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        read_object(body)


def test_depth_is_bounded() -> None:
    inner = MAX_DEPTH - 1
    read_object(b'{"a":' + b"[" * inner + b"]" * inner + b"}")
    for depth in (MAX_DEPTH, 2000, 200_000):
        with pytest.raises(BodyError):
            read_object(b'{"a":' + b"[" * depth + b"]" * depth + b"}")


def test_the_error_never_shows_the_body() -> None:
    with pytest.raises(BodyError) as error:
        read_object(b'{"secret":1,"secret":2}')
    assert "secret" not in str(error.value)


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.none(), max_size=6))
def test_every_object_with_unique_keys_passes(value: dict[str, object]) -> None:
    if any(isinstance(item, int) and abs(item) > 2**62 for item in value.values()):
        return
    assert read_object(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(BodyError):
        assert isinstance(read_object(body), dict)
