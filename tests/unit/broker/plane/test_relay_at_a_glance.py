"""Most pieces of a stream pass after a glance: nobody can tell, but by what it costs."""

import asyncio
import dataclasses
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.echoes import SPELLINGS, shows
from fakes.relay_stage import Stage
from stanchion.broker.plane.dialects.openai_chat import READER, ChatFold
from stanchion.broker.plane.limits import MAX_UNREAD_BYTES, Limits
from stanchion.broker.plane.relay import Relayed, RelayEnd
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import LEAST, Spellings
from stanchion.broker.plane.upstream import Ending

DONE = b"data: [DONE]\n\n"
KEY = b"sk-CANARY-0123456789"
SPELLED = Spellings(KEY.decode())
LONG = Limits(linger_s=30.0, drain_s=30.0)


def event(text: str, **more: object) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    whole = {"id": "c-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps({**whole, **more}, ensure_ascii=False).encode()


CALL = {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "ls"}}]}}
STOP = {"index": 0, "delta": {}, "finish_reason": "stop"}
EVENTS = [
    event("Read"), event(" the"), event(" tests "), event("caf\u00e9"), event("\n```py\n"),
    event("7QZW9%"), event("", model="router/m"), event("x", choices=[CALL]), b": ping\n\n",
    event("<think>"), event("sk-"), event("CANARY"), event("-0123456789"), event(KEY.decode()),
    event("x", usage={"prompt_tokens": 3, "completion_tokens": 2}), event("[DONE]"),
    event("x", choices=[STOP]), b"data: not JSON\n\n", b"id: 4\n", b"\n", b"data: {}\r\n\r\n",
    event('say "error"'), event("x", error={"message": "overloaded"}), DONE,
]  # fmt: skip


async def in_its_frame(*last: bytes) -> bytes:
    """What left of these, behind so many events that the frame of them is known."""
    before = [event(f" word {number}") for number in range(60)]

    def script(stage: Stage) -> None:
        for piece in (*before, *last):
            stage.up.push(piece)
        stage.up.end(Ending.CUT)

    stage = Stage(LONG, key=SPELLED)
    relayed = await stage.play(script)
    assert stage.tap.frame is not None
    left = stage.down.sent + relayed.held
    assert left.startswith(b"".join(before))
    return left.removeprefix(b"".join(before))


@pytest.mark.parametrize("cut", range(1, len(KEY)))
async def test_a_key_that_is_cut_between_two_events_in_the_frame_is_masked(cut: int) -> None:
    pieces = KEY[:cut].decode(), KEY[cut:].decode()
    left = await in_its_frame(*map(event, pieces), event(" so"))
    first = KEY[:cut] if cut < LEAST else b"*" * cut
    rest = b"*" * (len(KEY) - cut)
    assert left == b"".join(event(text.decode()) for text in (first, rest, b" so"))


@pytest.mark.parametrize("name", SPELLINGS)
async def test_every_spelling_in_a_text_in_the_frame_is_masked(name: str) -> None:
    spelled = SPELLINGS[name](KEY.decode())
    echo = event("it is @.").replace(b"@", spelled)
    left = await in_its_frame(echo, event(" so"))
    assert len(left) == len(echo + event(" so"))
    assert not shows(left, KEY.decode())
    assert b"*" * 8 in left


@settings(deadline=None)
@given(
    events=st.lists(st.sampled_from(EVENTS[:6]) | st.sampled_from(EVENTS), max_size=30),
    repeats=st.integers(1, 12),
    cuts=st.lists(st.integers(1, 600), max_size=6),
)
def test_a_glance_changes_nothing_of_what_leaves_or_is_told(
    events: list[bytes], repeats: int, cuts: list[int]
) -> None:
    """Events mostly one by one, as they come, and now and then cut anywhere."""
    pieces = [event("hi")] * 20 * (repeats % 2) + events * repeats
    stream = b"".join(events)
    for size in cuts:
        pieces += [stream[:size]] if stream[:size] else []
        stream = stream[size:]

    def script(stage: Stage) -> None:
        for piece in pieces:
            stage.up.push(piece)
        stage.up.end(Ending.COMPLETE)

    async def played() -> tuple[Stage, Relayed]:
        stage = Stage(Limits(drain_bytes=1 << 30), key=SPELLED)
        return stage, await stage.play(script)

    stage, relayed = asyncio.run(played())
    tap = ResponseReader(READER, status=200, form=Form.EVENTS, output_limit=None)
    scrub = Scrubber(SPELLED, hashlib.sha256, events=True)
    clean = [*map(scrub.feed, pieces), scrub.close()]
    for piece in filter(None, clean):
        tap.saw(piece)
    if relayed.end is RelayEnd.COMPLETE:  # else more came behind the end than is waited for
        assert stage.down.sent + relayed.held == b"".join(clean)
        assert stage.tap.answered(complete=True) == tap.answered(complete=True)
        assert stage.tap.semantic_events == tap.semantic_events
    assert b"".join(clean).startswith(stage.down.sent + relayed.held)


async def test_of_a_thousand_events_that_differ_in_their_text_few_are_decoded() -> None:
    decoded: list[bytes] = []

    class Fold(ChatFold):
        def stream_event(self, data: bytes) -> bool:
            decoded.append(data)
            return super().stream_event(data)

    def script(stage: Stage) -> None:
        for number in range(1000):
            stage.up.push(event(f"{number}"))
            assert stage.down.sent.endswith(event(f"{number}"))
        stage.up.end(Ending.CUT)

    stage = Stage(LONG, key=SPELLED, reader=dataclasses.replace(READER, new_fold=Fold))
    await stage.play(script)
    assert stage.tap.semantic_events == 1000
    assert stage.tap.size_bytes == len(stage.down.sent)
    assert len(decoded) < 2 + 2 * MAX_UNREAD_BYTES / len(event("1"))
