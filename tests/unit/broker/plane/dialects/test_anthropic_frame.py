"""Within its frame, another text tells the fold nothing but that it came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.anthropic_messages import READER, MessageFold
from stanchion.broker.plane.frame import Frame

TEXT = {"type": "text_delta", "text": "Reading"}
THOUGHT = {"type": "thinking_delta", "thinking": "Let me"}


def delta(inner: dict[str, Any], **more: Any) -> bytes:
    event = {"type": "content_block_delta", "index": 1, "delta": inner, **more}
    return json.dumps(event, separators=(",", ":")).encode()


def frame_after(*events: bytes) -> tuple[MessageFold, Frame | None]:
    fold = MessageFold()
    for event in events:
        fold.stream_event(event)
    return fold, READER.frame(fold, events[-1])


@pytest.mark.parametrize("inner", [TEXT, THOUGHT])
def test_a_delta_of_text_has_a_frame(inner: dict[str, Any]) -> None:
    event = delta(inner)
    _, frame = frame_after(event)
    assert frame is not None
    assert list(inner.values())[1].encode().join(frame[:2]) == event
    assert frame.stands()


@pytest.mark.parametrize(
    "event",
    [
        delta({"type": "text_delta", "text": ""}),
        delta({"type": "text_delta", "thinking": "a"}), delta({"type": "input_json_delta"}),
        delta(TEXT | {"citations": []}), delta(TEXT, usage={}), delta(TEXT, error={}),
        delta(TEXT, type="content_block_start"), delta(TEXT, index="a"),
        delta({"type": "signature_delta", "signature": "a"}),
        b'{"type":"ping"}', b'{"type":"message_stop"}', b"not JSON", b"",
    ],
)  # fmt: skip
def test_no_other_has(event: bytes) -> None:
    assert frame_after(delta(TEXT), delta(THOUGHT), event)[1] is None


def test_the_first_text_is_news() -> None:
    assert READER.frame(MessageFold(), delta(TEXT)) is None
    assert READER.frame(frame_after(delta(TEXT))[0], delta(THOUGHT)) is None


TEXTS = st.text(st.characters(codec="utf-8")).map(lambda text: json.dumps(text)[1:-1].encode())


@given(inner=st.sampled_from([TEXT, THOUGHT]), texts=st.lists(TEXTS, max_size=4))
def test_any_text_in_it_leaves_what_is_told_as_it_was(
    inner: dict[str, Any], texts: list[bytes]
) -> None:
    fold, frame = frame_after(delta(inner))
    assert frame is not None
    before = fold.told()
    for text in texts:
        assert fold.stream_event(text.join(frame[:2])) is True
    assert fold.told() == before
