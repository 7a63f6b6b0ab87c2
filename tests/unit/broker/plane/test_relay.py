"""The relay between a hand-driven upstream and a recording downstream."""

import asyncio
from typing import Any

import pytest

from fakes.relay_stage import Stage
from stanchion.broker.plane.dialects.gemini import READER as GEMINI
from stanchion.broker.plane.dialects.openai_responses import READER as RESPONSES
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.relay import MAX_HELD_BYTES, Relayed, RelayEnd
from stanchion.broker.plane.response_reader import Form
from stanchion.broker.plane.spellings import Spellings
from stanchion.broker.plane.upstream import Ending

TEXT = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
DONE = b"data: [DONE]\n\n"
BRIEF = Limits(idle_s=0.05, linger_s=0.05, drain_s=0.05, drain_bytes=100)
LONG = Limits(linger_s=30.0, drain_s=30.0, drain_bytes=100)


async def test_bytes_pass_at_once_and_the_terminal_event_waits() -> None:
    def script(stage: Stage) -> None:
        stage.up.push(TEXT)
        assert stage.down.sent == TEXT
        stage.up.push(TEXT + DONE)
        stage.up.end(Ending.COMPLETE)

    stage = Stage(LONG)
    relayed = await stage.play(script)
    assert stage.down.sent + relayed.held == TEXT + TEXT + DONE
    assert relayed == Relayed(RelayEnd.COMPLETE, b"[DONE]\n\n")


async def test_without_a_terminal_event_the_one_that_may_be_last_waits_for_the_next() -> None:
    text = b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n'
    stop = b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n'
    usage = b'data: {"usageMetadata":{"promptTokenCount":3}}\n\n'

    def script(stage: Stage) -> None:
        stage.up.push(text + stop)
        assert stop not in stage.down.sent
        stage.up.push(usage)
        assert stage.down.sent == text + stop + usage
        stage.up.push(stop)  # servers that say a reason all the time are not held back by one
        assert stage.down.sent == text + stop + usage + stop
        stage.up.end(Ending.COMPLETE)

    relayed = await Stage(LONG, reader=GEMINI).play(script)
    assert relayed == Relayed(RelayEnd.COMPLETE, b"")

    def short(stage: Stage) -> None:
        stage.up.push(text)
        assert stage.down.sent == text
        stage.up.push(stop)
        stage.up.end(Ending.COMPLETE)

    held = (await Stage(LONG, reader=GEMINI).play(short)).held
    assert stop.endswith(held)
    assert b'"finishReason"' in held


async def test_the_last_piece_of_a_json_body_waits() -> None:
    def script(stage: Stage) -> None:
        stage.up.push(b'{"a":')
        stage.up.push(b"1}")
        stage.up.end(Ending.COMPLETE)

    stage = Stage(LONG, Form.JSON)
    relayed = await stage.play(script)
    assert (stage.down.sent, relayed.held) == (b'{"a":', b"1}")


@pytest.mark.parametrize("noise", [b"", b": ping\n\n", b"data: {", b"event: ping\n\n"])
async def test_without_semantic_events_it_is_idle(noise: bytes) -> None:
    stage = Stage(BRIEF)
    relayed = await stage.play(lambda stage: stage.up.push(noise))
    assert relayed.end is RelayEnd.IDLE
    assert (stage.alive, stage.up.log[-1]) == (0, "close")


async def test_signs_of_life_are_said_once_in_a_while() -> None:
    def script(stage: Stage) -> None:
        for _ in range(50):
            stage.up.push(TEXT)
        stage.up.end(Ending.CUT)

    stage = Stage(LONG)
    relayed = await stage.play(script)
    assert (relayed, stage.alive) == (Relayed(RelayEnd.CUT, b""), 1)


async def test_a_provider_that_lingers_after_the_end_is_not_waited_for() -> None:
    stage = Stage(BRIEF)
    relayed = await stage.play(lambda stage: stage.up.push(TEXT + DONE))
    assert relayed == Relayed(RelayEnd.TERMINAL, b"[DONE]\n\n")


async def test_what_is_held_is_bounded() -> None:
    def script(stage: Stage) -> None:
        stage.up.push(b'data: {"error":{"message":"x"}}\n\n')
        stage.up.push(b"x" * MAX_HELD_BYTES)
        stage.up.push(b"y")

    relayed = await Stage(LONG).play(script)
    assert relayed.end is RelayEnd.TERMINAL
    assert len(relayed.held) <= MAX_HELD_BYTES + 100


async def test_an_event_that_may_be_terminal_is_let_go_when_it_is_too_long() -> None:
    start = b'data: {"choices":[{"delta":{"content":"[DONE]'

    def script(stage: Stage) -> None:
        stage.up.push(start)
        stage.up.push(b"x" * (MAX_HELD_BYTES + 1))
        assert stage.down.sent == start + b"x" * (MAX_HELD_BYTES + 1)
        stage.up.end(Ending.CUT)

    assert (await Stage(LONG).play(script)).held == b""


async def test_the_end_of_a_terminal_event_waits_however_long_the_event_is() -> None:
    """A last event of OpenAI's responses repeats tools, instructions and all of the output."""
    long = b'data: {"type":"response.completed","response":{"instructions":"' + b"x" * (
        3 * MAX_HELD_BYTES
    )
    end = b'","status":"completed"}}\n\n'

    def script(stage: Stage) -> None:
        for place in range(0, len(long), 16 * 1024):
            stage.up.push(long[place : place + 16 * 1024])
        assert len(stage.down.sent) > MAX_HELD_BYTES
        assert long.startswith(stage.down.sent)
        stage.up.push(end[:-1])
        stage.up.push(end[-1:])
        assert long.startswith(stage.down.sent)
        stage.up.end(Ending.COMPLETE)

    stage = Stage(LONG, reader=RESPONSES)
    relayed = await stage.play(script)
    assert stage.down.sent + relayed.held == long + end
    assert relayed.held.endswith(end)


async def test_a_client_that_left_is_drained_for_the_usage_within_bounds() -> None:
    def script(stage: Stage) -> None:
        stage.down.callbacks["on_gone"]()
        stage.up.push(TEXT)
        stage.up.push(TEXT * 3)

    stage = Stage(LONG)
    assert await stage.play(script) == Relayed(RelayEnd.DRAIN, b"")
    assert stage.down.sent == b""
    assert stage.tap.size_bytes == len(TEXT) * 4
    silent = Stage(BRIEF)
    relayed = await silent.play(lambda stage: stage.down.callbacks["on_gone"]())
    assert relayed.end is RelayEnd.DRAIN


@pytest.mark.parametrize("before", [True, False])
async def test_the_drain_ends_with_the_terminal_event(*, before: bool) -> None:
    def script(stage: Stage) -> None:
        if before:
            stage.up.push(TEXT + DONE)
        stage.down.callbacks["on_gone"]()
        if not before:
            stage.up.push(TEXT + DONE)

    relayed = await Stage(LONG).play(script)
    assert relayed == Relayed(RelayEnd.CLIENT_GONE, b"")


async def test_a_slow_reader_pauses_the_provider() -> None:
    def script(stage: Stage) -> None:
        stage.down.callbacks["on_pause"]()
        stage.down.callbacks["on_resume"]()
        stage.up.end(Ending.MALFORMED)

    stage = Stage(LONG)
    assert (await stage.play(script)).end is RelayEnd.MALFORMED
    assert stage.up.log == ["pause", "resume", "close"]


async def test_a_reader_that_takes_nothing_is_not_the_providers_silence() -> None:
    stage = Stage(Limits(idle_s=600.0, reader_s=0.02))
    relayed = await stage.play(lambda stage: stage.down.callbacks["on_pause"]())
    assert relayed.end is RelayEnd.READER


async def test_the_silence_begins_anew_when_the_reader_reads_on() -> None:
    def script(stage: Stage) -> None:
        stage.down.callbacks["on_pause"]()
        stage.down.callbacks["on_resume"]()

    stage = Stage(Limits(idle_s=0.02, reader_s=600.0))
    assert (await stage.play(script)).end is RelayEnd.IDLE


async def test_a_semantic_event_puts_the_silence_off_without_a_timer_of_its_own() -> None:
    made: list[float] = []

    def script(stage: Stage) -> None:
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def counted(when: float, *rest: Any, **named: Any) -> asyncio.TimerHandle:
            made.append(when)
            return call_at(when, *rest, **named)

        loop.call_at = counted  # type: ignore[method-assign]
        for _ in range(100):
            stage.up.push(TEXT)
        loop.call_at = call_at  # type: ignore[method-assign]
        stage.up.end(Ending.CUT)

    await Stage(LONG).play(script)
    assert made == []


async def test_a_revoked_lease_cuts_it_at_once() -> None:
    def script(stage: Stage) -> None:
        stage.up.push(TEXT + DONE)
        stage.flow.revoke()
        stage.up.push(TEXT)

    stage = Stage(LONG)
    assert (await stage.play(script)).end is RelayEnd.REVOKED
    assert stage.tap.size_bytes == len(TEXT + DONE)


async def test_nothing_leaves_once_it_was_cancelled() -> None:
    stage = Stage(LONG)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.flow.run())
        await asyncio.sleep(0)
        stage.up.push(TEXT)
        task.cancel()
    stage.up.push(TEXT)
    assert stage.down.sent == TEXT
    assert stage.up.log[-1] == "close"


KEY = b"sk-CANARY-0123456789"
SPELLED = Spellings(KEY.decode())
STARS = b"*" * len(KEY)
ECHO = b'data: {"choices":[{"delta":{"content":"the key %b"}}]}\n\n' % KEY


@pytest.mark.parametrize("cut", range(1, len(ECHO)))
async def test_a_key_in_a_stream_is_masked_wherever_it_is_cut(cut: int) -> None:
    def script(stage: Stage) -> None:
        stage.up.push(TEXT)
        assert stage.down.sent == TEXT
        stage.up.push(ECHO[:cut])
        stage.up.push(ECHO[cut:] + DONE)
        stage.up.end(Ending.COMPLETE)

    stage = Stage(LONG, key=SPELLED)
    relayed = await stage.play(script)
    assert relayed.end is RelayEnd.COMPLETE
    assert stage.down.sent + relayed.held == TEXT + ECHO.replace(KEY, STARS) + DONE
    assert stage.tap.size_bytes == len(TEXT + ECHO + DONE)


async def test_with_a_key_to_look_for_clean_bytes_still_leave_in_their_callback() -> None:
    def script(stage: Stage) -> None:
        stage.up.push(TEXT)
        assert stage.down.sent == TEXT
        stage.up.push(b"data: sk-C")
        assert stage.down.sent == TEXT + b"data: "
        stage.up.push(b"x")
        assert stage.down.sent == TEXT + b"data: sk-Cx"
        stage.up.end(Ending.CUT)

    assert (await Stage(LONG, key=SPELLED).play(script)).end is RelayEnd.CUT


@pytest.mark.parametrize("form", [Form.EVENTS, Form.JSON])
async def test_an_end_that_only_began_like_the_key_is_handed_on_at_the_end(form: Form) -> None:
    def script(stage: Stage) -> None:
        stage.up.push(b"the end is sk-CAN")
        stage.up.end(Ending.COMPLETE)

    stage = Stage(LONG, form, key=SPELLED)
    relayed = await stage.play(script)
    assert stage.down.sent + relayed.held == b"the end is sk-CAN"
    assert stage.tap.size_bytes == len(b"the end is sk-CAN")


async def test_a_client_that_left_is_drained_through_the_mask_too() -> None:
    def script(stage: Stage) -> None:
        stage.down.callbacks["on_gone"]()
        stage.up.push(ECHO[:50])
        stage.up.end(Ending.CUT)

    stage = Stage(LONG, key=SPELLED)
    assert (await stage.play(script)).end is RelayEnd.CLIENT_GONE
    assert stage.down.sent == b""
    assert stage.tap.size_bytes == 50
