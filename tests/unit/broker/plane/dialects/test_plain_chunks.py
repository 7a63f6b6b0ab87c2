"""A chunk that is decoded strictly says what it says when it is read member by member."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.chat_document import plain_chunk
from stanchion.broker.plane.dialects.openai_chat import ChatFold

PLAIN = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "hi"}}]}
ODD = st.sampled_from([None, "", "a", "<think>", " ", 0, 1, 1.5, True, [], {}, [{}]])
DELTAS = st.dictionaries(
    st.sampled_from(
        ["content", "role", "refusal", "reasoning_content", "reasoning", "tool_calls", "thinking"]
    ),
    ODD,
)
CHOICES = st.fixed_dictionaries(
    {"delta": DELTAS},
    optional={"index": ODD, "finish_reason": ODD, "logprobs": ODD, "usage": ODD, "error": ODD},
)
CHUNKS = st.fixed_dictionaries(
    {
        "object": st.sampled_from(["chat.completion.chunk", "error", None]),
        "choices": st.lists(CHOICES, max_size=2),
    },
    optional=dict.fromkeys(("id", "model", "usage", "created", "error", "code", "provider"), ODD),
)


@given(chunks=st.lists(st.one_of(st.just(PLAIN), CHUNKS), max_size=6))
def test_both_ways_tell_the_same(chunks: list[object]) -> None:
    quick, slow = ChatFold(), ChatFold()
    for chunk in (PLAIN, *chunks):  # after a plain one the next is tried as one
        data = json.dumps(chunk).encode()
        assert quick.stream_event(data) is slow.whole_body(data)
    assert quick.told() == slow.told()


def test_only_a_chunk_without_anything_else_is_plain() -> None:
    assert plain_chunk(json.dumps(PLAIN).encode()) is not None
    for more in ({"error": None}, {"usage": {}}, {"object": "error"}, {"choices": []}):
        assert plain_chunk(json.dumps({**PLAIN, **more}).encode()) is None
    assert plain_chunk(b"[DONE]") is None
    assert plain_chunk(b'{"choices":[{"delta":{"content":"\xff"}}]}') is None
