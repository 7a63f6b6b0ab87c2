"""What passes between supervisor and shim survives the way, whatever is in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.supervisor.isolation.shim_wire import (
    Order,
    WireError,
    decode_order,
    encode_order,
    encode_report,
)

text = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
texts = st.lists(text, max_size=4).map(tuple)


def body(encoded: bytes) -> bytes:
    head, _, rest = encoded.partition(b"\n")
    assert int(head) == len(rest)
    return rest


def fields(order: Order) -> dict[str, object]:
    return {name: getattr(order, name) for name in Order.__slots__}


@given(
    argv=texts,
    env=st.dictionaries(text, text, max_size=4),
    cwd=text,
    uid=st.integers(0, 2**32),
    isolated=st.booleans(),
    hidden=texts,
    pinned=texts,
    sockets=texts,
)
def test_an_order_comes_out_as_it_went_in(**given_fields: object) -> None:
    order = Order(**given_fields)  # type: ignore[arg-type]
    assert fields(decode_order(body(encode_order(order)))) == given_fields


def order(**changed: object) -> Order:
    plain: dict[str, object] = {"argv": ("x",), "env": {}, "cwd": "/", "uid": 0, "isolated": True}
    return Order(**(plain | changed))  # type: ignore[arg-type]


def test_bytes_that_are_no_text_survive() -> None:
    raw = b"\xff\xfe".decode("utf-8", "surrogateescape")
    assert decode_order(body(encode_order(order(argv=(raw,))))).argv == (raw,)


def test_a_nul_character_is_refused() -> None:
    with pytest.raises(WireError, match="NUL"):
        encode_order(order(env={"A": "b\0c"}))


@pytest.mark.parametrize("cut", [0, 1, 5, 9, -2])
def test_a_cut_order_is_refused(cut: int) -> None:
    whole = body(encode_order(order(argv=("one", "two"), hidden=("/run/x",))))
    with pytest.raises(WireError, match="not complete"):
        decode_order(whole[:cut])


@given(text, st.integers(), st.dictionaries(text, st.booleans(), max_size=4))
def test_a_report_is_one_json_line(word: str, number: int, checks: dict[str, bool]) -> None:
    line = encode_report("kind", word=word, number=number, checks=checks)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found = json.loads(line)
    shown = {"".join(c if ord(c) < 0xD800 else "?" for c in name): v for name, v in checks.items()}
    assert found["type"] == "kind"
    assert found["number"] == number
    assert found["checks"] == shown
    assert found["word"] == "".join(c if ord(c) < 0xD800 else "?" for c in word)
