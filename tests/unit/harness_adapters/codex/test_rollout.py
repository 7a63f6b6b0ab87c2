import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.codex import rollout
from stanchion.harness_adapters.codex.rollout import Piece, Tokens


@given(st.text() | st.recursive(st.integers() | st.text() | st.none(), st.lists).map(json.dumps))
def test_whatever_is_no_line_is_none(text: str) -> None:
    assert rollout.read(text) is None


@pytest.mark.parametrize(
    "payload", ['{"type":7}', '{"content":"x"}', '{"error":"x"}', '{"usage":[]}', "7"]
)
def test_a_line_of_another_shape_is_none(payload: str) -> None:
    assert rollout.read(f'{{"type":"event_msg","payload":{payload}}}') is None
    assert rollout.read("[" * 100_000) is None


def test_a_line_says_when_it_was_written_or_nothing() -> None:
    known = rollout.read('{"timestamp":"1970-01-01T00:00:01.500Z","type":"x","payload":{}}')
    unknown = rollout.read('{"timestamp":"soon","type":"x","payload":{}}')
    assert known is not None
    assert known.at_ms == 1500
    assert unknown is not None
    assert unknown.at_ms is None


def test_counts_that_are_zero_are_unknown() -> None:
    usage = Tokens(input_tokens=10, cached_input_tokens=4, output_tokens=3).usage()
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (10, 4, 3)
    assert (usage.reasoning_tokens, usage.cache_write_tokens) == (None, None)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ("as it is", "as it is"),
        ([{"text": "a"}, {"image": 1}, 7, {"text": None}, {"text": "b"}], "a\nb"),
        ((Piece(text="a"), Piece()), "a"),
        (None, ""),
        (7, ""),
    ],
)
def test_all_texts_of_pieces_whatever_they_are(pieces: object, text: str) -> None:
    assert rollout.plain(pieces) == text
