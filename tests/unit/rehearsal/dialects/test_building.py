import json

import pytest

from stanchion.rehearsal.dialects.building import (
    argument_fragments,
    arguments_said,
    arguments_text,
    bearer_key,
    digest,
    field_of,
    paced,
    read_request,
    roles_after_first_user,
    sealed,
    whole,
    word_groups,
)
from stanchion.rehearsal.script import ToolCall
from stanchion.rehearsal.turns import Refusal
from unit.rehearsal.dialects.answers import answer


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"{", "not JSON"),
        (b'{"a": "\xff"}', "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"model": 3}', "model must be"),
        (b'{"model": "m", "messages": {}}', "messages must be"),
    ],
)
def test_a_body_without_a_conversation_is_refused(body: bytes, part: str) -> None:
    refused = read_request(body)
    assert isinstance(refused, Refusal)
    assert part in refused.message


def test_a_body_with_a_conversation_is_read_whole() -> None:
    document = {"model": "m", "messages": [1], "more": None}
    assert read_request(json.dumps(document).encode()) == document


def test_a_conversation_may_have_another_name_and_be_text() -> None:
    body = b'{"model": "m", "input": "go"}'
    assert read_request(body, "input", text_too=True) == {"model": "m", "input": "go"}
    for sent, text_too in ((b'{"model": "m", "input": ""}', True), (body, False)):
        refused = read_request(sent, "input", text_too=text_too)
        assert isinstance(refused, Refusal)
        assert refused.param == "input"


def test_thoughts_are_sealed_alike_if_they_are_alike() -> None:
    assert sealed("a") == sealed("a") != sealed("b")


def test_roles_begin_with_the_first_user() -> None:
    messages = [{"role": "system"}, "odd", {"role": "user"}, 3, {"role": "assistant"}]
    assert roles_after_first_user(messages) == ["user", None, "assistant"]
    assert roles_after_first_user([{"role": "system"}]) == []
    assert roles_after_first_user("odd") == []


def test_a_digest_is_of_the_value_not_of_its_spelling() -> None:
    assert digest({"a": 1, "b": [2]}) == digest(json.loads('{ "b":[2],"a":1}'))
    assert digest([1, 2]) != digest([2, 1])


def test_a_field_of_what_is_no_object_is_unknown() -> None:
    assert (field_of({"a": 1}, "a"), field_of({}, "a"), field_of("a", "a")) == (1, None, None)


def test_only_a_bearer_token_is_a_bearer_key() -> None:
    assert bearer_key({"Authorization": "Bearer k"}) == "k"
    assert bearer_key({"Authorization": "bearer k"}) is None
    assert bearer_key({}) is None


def test_words_come_three_by_three_and_lose_nothing() -> None:
    text = " one  two three four\n"
    assert word_groups(text) == [" one  two three ", "four\n"]
    assert word_groups("") == []


def test_fragments_join_to_the_arguments() -> None:
    call = ToolCall(name="a", arguments={"command": "x" * 60})
    fragments = list(argument_fragments(arguments_text(call)))
    assert [len(fragment) for fragment in fragments[:-1]] == [24, 24, 24]
    assert json.loads("".join(fragments)) == call.arguments


def test_of_a_cut_answer_the_last_calls_arguments_stop_half_way() -> None:
    calls = (ToolCall(name="a", arguments={"n": 1}), ToolCall(name="b", arguments={"n": 2}))
    said = answer(calls=calls, cut_call=True)
    assert list(arguments_said(said)) == [(calls[0], '{"n":1}'), (calls[1], '{"n')]
    assert [text for _, text in arguments_said(answer(calls=calls))] == ['{"n":1}', '{"n":2}']


def test_the_gap_is_between_events_only() -> None:
    assert [piece.delay_ms for piece in paced([b"a", b"b", b"c"], 7)] == [0, 7, 7]


def test_a_whole_document_has_its_length() -> None:
    reply = whole(418, {"a": "ä"})
    assert (reply.status, reply.size_bytes) == (418, len(reply.pieces[0].data))
