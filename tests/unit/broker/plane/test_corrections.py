import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.corrections import Corrected, corrected, with_member
from stanchion.broker.plane.json_gate import MAX_INT, MIN_INT, read_object
from stanchion.protocol.launch import Correction

LIMIT = Correction(field="max_tokens", value=128_000, why="it sends none")
EFFORT = Correction(field="reasoning_effort", value="max", why="it knows no such word")


@pytest.mark.parametrize(
    ("body", "edited"),
    [
        (b"{}", b'{"max_tokens":128000}'),
        (b" { \n} ", b' {"max_tokens":128000 \n} '),
        (b'{"a":1}', b'{"a":1,"max_tokens":128000}'),
        (b'{"a":1 \r\n}\n', b'{"a":1,"max_tokens":128000 \r\n}\n'),
        (b'{"a":[1,{"max_tokens":5}]}', b'{"a":[1,{"max_tokens":5}],"max_tokens":128000}'),
        (b'{"a":"}\\"","b":{}}', b'{"a":"}\\"","b":{},"max_tokens":128000}'),
        (b'{"max_tokens":5}', b'{"max_tokens":128000}'),
        (b'{ "max_tokens" :\t5 , "a":1}', b'{ "max_tokens" :\t128000 , "a":1}'),
        (b'{"a":"max_tokens","max_tokens":null}', b'{"a":"max_tokens","max_tokens":128000}'),
        (b'{"max_tokens":128000.0}', b'{"max_tokens":128000}'),
        (b'{"max_tokens":1.28e5}', b'{"max_tokens":128000}'),
        (b'{"max_tokens":"128000"}', b'{"max_tokens":128000}'),
        (b'{"max_tokens":true}', b'{"max_tokens":128000}'),
        (b'{"max\\u005ftokens":5}', b'{"max\\u005ftokens":128000}'),
        (
            '{"ä":"é\U0001f600","max_tokens":5}'.encode(),
            '{"ä":"é\U0001f600","max_tokens":128000}'.encode(),
        ),
    ],
)
def test_only_the_bytes_of_the_member_change(body: bytes, edited: bytes) -> None:
    assert with_member(body, "max_tokens", 128_000) == edited
    assert read_object(edited)["max_tokens"] == 128_000


@pytest.mark.parametrize(
    "body",
    [
        b'{"max_tokens":128000}',
        b'{"max_tokens":{"a":1}}',
        b'{"max_tokens":[5]}',
        b'{"max_tokens" : 128000 }',
    ],
)
def test_what_is_so_already_or_is_no_plain_value_stays_the_same_object(body: bytes) -> None:
    assert with_member(body, "max_tokens", 128_000) is body


LEVEL = "generationConfig.thinkingConfig.thinkingLevel"


@pytest.mark.parametrize(
    ("body", "edited"),
    [
        (
            b'{"a":1, "generationConfig": {"x":[{}], "thinkingConfig" :{"b":true} },"z":2}',
            (
                b'{"a":1, "generationConfig": {"x":[{}], "thinkingConfig" :'
                b'{"b":true,"thinkingLevel":"xhigh"} },"z":2}'
            ),
        ),
        (
            b'{"generationConfig":{"thinkingConfig":{ }}}',
            b'{"generationConfig":{"thinkingConfig":{"thinkingLevel":"xhigh" }}}',
        ),
        (
            b'{"thinkingLevel":1,"generationConfig":{"thinkingConfig":{"thinkingLevel":"high"}}}',
            b'{"thinkingLevel":1,"generationConfig":{"thinkingConfig":{"thinkingLevel":"xhigh"}}}',
        ),
    ],
)
def test_a_path_leads_into_objects_that_are_there(body: bytes, edited: bytes) -> None:
    assert with_member(body, LEVEL, "xhigh") == edited
    assert with_member(edited, LEVEL, "xhigh") is edited


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"generationConfig":{}}',
        b'{"generationConfig":[{"thinkingConfig":{}}]}',
        b'{"generationConfig":{"thinkingConfig":"x"}}',
        b'{"thinkingConfig":{},"generationConfig":{"a":{"thinkingConfig":{}}}}',
        b'{"generationConfig":{"thinkingConfig":{"thinkingLevel":{}}}}',
    ],
)
def test_no_object_is_made_for_a_path(body: bytes) -> None:
    assert with_member(body, LEVEL, "xhigh") is body


def test_a_word_is_written_as_json() -> None:
    assert with_member(b"{}", 'e"', 'a"\\é') == '{"e\\"":"a\\"\\\\é"}'.encode()
    assert with_member(b'{"e":"\\u006dax"}', "e", "max") == b'{"e":"\\u006dax"}'


def test_the_corrections_that_were_needed_are_named() -> None:
    body = b'{"model":"m","reasoning_effort":"max"}'
    assert corrected(body, (LIMIT, EFFORT)) == Corrected(
        b'{"model":"m","reasoning_effort":"max","max_tokens":128000}', ("max_tokens",)
    )
    assert corrected(b'{"max_tokens":1}', (LIMIT, EFFORT)) == Corrected(
        b'{"max_tokens":128000,"reasoning_effort":"max"}', ("max_tokens", "reasoning_effort")
    )
    assert corrected(body, ()) == Corrected(body, ())


values = st.recursive(
    st.none() | st.booleans() | st.integers(MIN_INT, MAX_INT) | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
spaces = st.text(" \t\n\r", max_size=3)


@given(
    st.dictionaries(st.text(max_size=5) | st.just("max_tokens"), values, max_size=5),
    st.integers(0, 2**40) | st.text(max_size=5),
    st.booleans(),
    spaces,
)
def test_the_rest_of_any_object_is_as_it_was(
    members: dict[str, object], value: int | str, escaped: bool, space: str
) -> None:
    separators = (space + "," + space, space + ":" + space)
    text = space + json.dumps(members, ensure_ascii=escaped, separators=separators) + space
    body = text.encode("utf-8", "surrogatepass")
    edited = with_member(body, "max_tokens", value)
    before = members.get("max_tokens")
    if isinstance(before, (dict, list)):
        assert edited is body
        return
    assert read_object(edited) == {**members, "max_tokens": value}
    same = next(
        (at for at, (a, b) in enumerate(zip(body, edited, strict=False)) if a != b), len(body)
    )
    tail = next(
        (at for at, (a, b) in enumerate(zip(body[::-1], edited[::-1], strict=False)) if a != b),
        len(body),
    )
    written = len(json.dumps(value, ensure_ascii=False).encode()) + len('"max_tokens":,')
    assert len(edited) - same - tail <= written
