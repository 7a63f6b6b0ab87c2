import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.opencode import records

PART = '{"part":{"id":"p","sessionID":"s","messageID":"m","type":"text","text":"%s"},"time":7.9}'


def test_a_row_is_read_by_its_type_whatever_its_version() -> None:
    for kind in ("message.part.updated", "message.part.updated.1", "message.part.updated.27"):
        read = records.change((1, "s", 0, kind, PART % "hi"))
        assert isinstance(read, records.PartChanged)
        assert read.part.text == "hi"


@pytest.mark.parametrize(
    "row",
    [
        (),
        (1, "s", 0, "message.part.updated.1"),
        (1, "s", 0, None, "{}"),
        (1, "s", 0, "message.part.updated.1", None),
        (1, "s", 0, "message.part.updated.1", "{}"),
        (1, "s", 0, "message.part.updated.1", "nonsense"),
        (1, "s", 0, "message.part.updated.1", b"\xff\xfe"),
        (1, "s", 0, "message.part.updated.1", '{"part":{"id":3}}'),
        (1, "s", 0, "message.part.updated.1", "[" * 100_000),
        (1, "s", 0, "session.deleted.1", "{}"),
    ],
)
def test_what_does_not_fit_is_unknown(row: tuple[object, ...]) -> None:
    assert records.change(row) is None


def test_half_of_a_surrogate_pair_costs_one_character_and_not_the_text() -> None:
    read = records.change((1, "s", 0, "message.part.updated.1", PART % r"cut \ud83d"))
    assert isinstance(read, records.PartChanged)
    assert read.part.text == "cut ?"
    msgspec.json.encode(read.part.text)


@pytest.mark.parametrize(
    ("number", "whole"), [(None, None), (0, 0), (7.9, 7), (-1, None), (1e300, None), (2**60, None)]
)
def test_a_number_that_is_no_count_is_unknown(number: float | None, whole: int | None) -> None:
    assert records.whole(number) == whole


def test_an_error_becomes_one_bounded_sentence() -> None:
    line = b'{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":400}}}'
    read = records.printed(line)
    assert read is not None
    assert read.error is not None
    assert read.error.sentence() == "APIError 400: no"
    bare = records.Failure(name="X" * 9_000)
    assert len(bare.sentence()) == 2_000


def test_a_task_list_needs_its_fields() -> None:
    good = records.todos(msgspec.Raw(b'{"todos":[{"content":"a","status":"pending"}]}'))
    assert good is not None
    assert good.todos[0].priority is None
    assert records.todos(msgspec.Raw(b'{"todos":[{"content":"a"}]}')) is None


@given(st.binary(max_size=200))
def test_a_line_of_output_never_raises(line: bytes) -> None:
    records.printed(line)
