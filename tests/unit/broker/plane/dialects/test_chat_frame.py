"""Within its frame, another text tells the fold nothing but that it came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.openai_chat import READER, ChatFold
from stanchion.broker.plane.frame import Frame

TEXT = {"content": "Reading"}
THOUGHT = {"reasoning_content": "Let me"}
FIRST = {"role": "assistant", "content": ""}


def chunk(delta: dict[str, Any], **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    whole = {"id": "c-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return json.dumps({**whole, **more}, separators=(",", ":")).encode()


def frame_after(*events: bytes) -> tuple[ChatFold, Frame | None]:
    fold = ChatFold()
    for event in events:
        fold.stream_event(event)
    return fold, READER.frame(fold, events[-1])


@pytest.mark.parametrize(
    "delta",
    [
        TEXT, TEXT | {"role": "assistant"}, {"reasoning_content": None, **TEXT},
        THOUGHT | {"content": None}, THOUGHT | {"content": ""}, {"content": "", **THOUGHT},
        {"reasoning": "Let me", "content": ""}, {"content": 'a"b\n'},
    ],
)  # fmt: skip
def test_a_chunk_with_one_text_has_a_frame(delta: dict[str, Any]) -> None:
    event = chunk(delta)
    fold, frame = frame_after(chunk(FIRST), event)
    assert frame is not None
    text = next(text for text in delta.values() if text and text != "assistant")
    assert json.dumps(text)[1:-1].encode().join(frame[:2]) == event
    before = fold.told()
    assert fold.stream_event(b" the tests".join(frame[:2]))
    assert fold.told() == before


def test_spaces_are_kept() -> None:
    event = json.dumps(json.loads(chunk(TEXT))).encode()
    _, frame = frame_after(event)
    assert frame is not None
    assert b"Reading".join(frame[:2]) == event


@pytest.mark.parametrize(
    "event",
    [
        chunk({"content": " \n"}), chunk({"content": ""}), chunk({"content": "<think>"}),
        chunk({"content": "<think>hm"}), chunk({}),
        chunk(TEXT | THOUGHT), chunk({"reasoning": "a", "reasoning_content": "a"}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}),
        chunk(TEXT, usage={"prompt_tokens": 1}), chunk(TEXT, error={"message": "x"}),
        chunk(TEXT, obfuscation="ab"), chunk(TEXT, object="error"), chunk(TEXT, unknown=1),
        chunk(TEXT, choices=[]), b"[DONE]", b"{}", b"not JSON", b"",
    ],
)  # fmt: skip
def test_no_other_has(event: bytes) -> None:
    assert frame_after(event)[1] is None


def test_what_only_looks_like_the_text_is_not_taken_for_it() -> None:
    """A member that may be anything, behind the text, has one of the same name."""
    event = chunk(TEXT, provider={"content": "x"})
    assert frame_after(event)[1] is None


def test_a_text_in_which_reasoning_is_open_has_none_until_it_ended() -> None:
    events = [chunk({"content": piece}) for piece in ("<think>", "so", "</think>", "Yes", " I")]
    frames = [frame_after(*events[: count + 1])[1] is not None for count in range(len(events))]
    assert frames == [False, False, False, True, True]


def test_reasoning_without_reasoning_before_it_is_no_news_only_once_it_came() -> None:
    fold = ChatFold()
    assert READER.frame(fold, chunk(THOUGHT)) is None
    fold.stream_event(chunk(THOUGHT))
    assert READER.frame(fold, chunk(THOUGHT)) is not None


def test_it_does_not_stand_while_another_model_is_named() -> None:
    fold, frame = frame_after(chunk(TEXT))
    assert frame is not None
    assert frame.stands()
    fold.stream_event(chunk(TEXT, model="router/m"))
    assert not frame.stands()
    fold.stream_event(chunk(TEXT))
    assert frame.stands()
    unnamed = frame_after(chunk(TEXT), chunk(TEXT, model=None))[1]
    assert unnamed is not None
    assert unnamed.stands()


TEXTS = st.text(st.characters(codec="utf-8")).map(lambda text: json.dumps(text)[1:-1].encode())


@given(start=st.sampled_from([TEXT, THOUGHT]), texts=st.lists(TEXTS, max_size=4))
def test_any_text_in_it_leaves_what_is_told_as_it_was(
    start: dict[str, Any], texts: list[bytes]
) -> None:
    fold, frame = frame_after(chunk(FIRST), chunk(start))
    assert frame is not None
    before = fold.told()
    for text in texts:
        assert fold.stream_event(text.join(frame[:2])) is True
    assert fold.told() == before
