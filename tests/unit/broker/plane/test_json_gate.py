import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.json_gate import (
    MAX_DEPTH,
    MAX_INT,
    MIN_INT,
    BodyError,
    read_object,
    read_value,
)


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
        b'{"a":18446744073709551616}',
        b'{"a":[-9223372036854775809]}',
        b'{"a":' + b"9" * 5000 + b"}",
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
    read_value(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    for depth in (MAX_DEPTH, 2000, 200_000):
        with pytest.raises(BodyError):
            read_object(b'{"a":' + b"[" * depth + b"]" * depth + b"}")


def test_the_error_never_shows_the_body() -> None:
    with pytest.raises(BodyError) as error:
        read_object(b'{"secret":1,"secret":2}')
    assert "secret" not in str(error.value)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(MIN_INT, MAX_INT) | st.text('a"\\:{\u00e9', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('a"\\:', max_size=3), inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), _values, max_size=6), st.booleans())
def test_every_object_with_unique_keys_passes(value: dict[str, object], escaped: bool) -> None:
    assert read_object(json.dumps(value, ensure_ascii=escaped).encode()) == value


_members = st.lists(
    st.tuples(
        st.sampled_from(['"a"', '"\\u0061"', '"b:"', '"\\\\"', '"\\""', '"\\\\\\""']), _values
    ),
    max_size=4,
)


@given(st.lists(_members, min_size=1, max_size=3))
def test_a_key_twice_is_seen_wherever_it_is_as_another_parser_sees_it(
    objects: list[list[tuple[str, object]]],
) -> None:
    texts = [
        "{" + ",".join(f"{name}:{json.dumps(value)}" for name, value in members) + "}"
        for members in objects
    ]
    body = '{"all":[' + ",".join(texts) + "]}"
    twice = any(
        len({json.loads(name) for name, _ in members}) < len(members) for members in objects
    )
    if twice:
        with pytest.raises(BodyError, match="same key twice"):
            read_object(body.encode())
    else:
        assert read_object(body.encode()) == json.loads(body)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(BodyError):
        assert isinstance(read_object(body), dict)
