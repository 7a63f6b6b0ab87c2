"""Every fault as a change of the rendered reply, in each dialect and with and without stream."""

import json
from types import ModuleType
from typing import cast

import pytest

from stanchion.rehearsal.dialects import anthropic_messages, openai_chat, openai_responses
from stanchion.rehearsal.dialects.reply import Dialect, End, Reply
from stanchion.rehearsal.faults import kinds
from stanchion.rehearsal.faults.replies import KEEP_ALIVE, PROXY_LINE, Scene, play
from stanchion.rehearsal.turns import Asked
from unit.rehearsal.dialects import test_gemini, test_openai_responses
from unit.rehearsal.dialects.test_anthropic_messages import IDENTITY, answer, body

KEY = "sk-rehearsed"
GEMINI = "gemini"
DIALECTS = (openai_chat, openai_responses, anthropic_messages, GEMINI)
NAMES = ("chat", "responses", "anthropic", GEMINI)
SAID = answer(reasoning="one two three four five", text="hi")


def scene(dialect: ModuleType | str, *, stream: bool, key: str = KEY) -> Scene:
    if dialect == GEMINI:
        spoken: Dialect = test_gemini.STREAM if stream else test_gemini.WHOLE
        asked = spoken.understand(test_gemini.body())
    else:
        spoken = cast("Dialect", dialect)
        written = test_openai_responses.body if dialect is openai_responses else body
        asked = spoken.understand(written(stream=stream))
    assert isinstance(asked, Asked)
    return Scene(dialect=spoken, asked=asked, identity=IDENTITY, key=key)


@pytest.fixture(params=DIALECTS, ids=NAMES)
def streamed(request: pytest.FixtureRequest) -> Scene:
    return scene(request.param, stream=True)


@pytest.fixture(params=DIALECTS, ids=NAMES)
def single(request: pytest.FixtureRequest) -> Scene:
    return scene(request.param, stream=False)


def healthy(place: Scene) -> Reply:
    return play(SAID, None, place)[0]


def met(fault: kinds.Fault, place: Scene) -> Reply:
    return play(SAID, fault, place)[0]


def kind(error: dict[str, object]) -> object:
    """The error's own word, which Google calls status."""
    return error.get("type", error.get("status"))


def data(reply: Reply) -> bytes:
    return b"".join(piece.data for piece in reply.pieces)


def test_without_a_fault_the_turn_is_rendered_as_it_stands(streamed: Scene) -> None:
    reply, hold_s = play(answer(text="hi", hold_s=2.0), None, streamed)
    assert (reply.end, hold_s) == (End.CLEAN, 2.0)


def test_slow_headers_hold_the_whole_answer(streamed: Scene) -> None:
    reply, hold_s = play(SAID, kinds.SlowHeadersFault(wait_s=0.5), streamed)
    assert (reply, hold_s) == (healthy(streamed), 0.5)


def test_a_status_has_the_dialects_body_and_the_scripts_headers(single: Scene) -> None:
    fault = kinds.StatusFault(status=429, message="slow", retry_after=2, headers={"x-a": "b"})
    reply = met(fault, single)
    assert (reply.status, reply.headers) == (429, (("Retry-After", "2"), ("x-a", "b")))
    assert json.loads(data(reply))["error"]["message"] == "slow"
    plain = met(kinds.StatusFault(status=503, error_type="odd"), single)
    assert plain.headers == ()
    assert kind(json.loads(data(plain))["error"]) == "odd"
    assert "503" in json.loads(data(plain))["error"]["message"]


def test_an_error_event_ends_a_stream_after_some_events(streamed: Scene) -> None:
    whole = healthy(streamed)
    reply = met(kinds.ErrorEventFault(after=2, error_type="odd"), streamed)
    assert reply.pieces[:2] == whole.pieces[:2]
    (event,) = reply.pieces[2:]
    assert b'"odd"' in event.data
    assert (reply.status, reply.end) == (200, End.CLEAN)
    first = met(kinds.ErrorEventFault(), streamed)
    assert [piece.delay_ms for piece in first.pieces] == [0]
    late = met(kinds.ErrorEventFault(after=1000), streamed)
    assert late.pieces[:-1] == whole.pieces


def test_an_error_in_a_single_answer_is_a_200(single: Scene) -> None:
    reply = met(kinds.ErrorEventFault(message="busy"), single)
    assert reply.status == 200
    assert json.loads(data(reply))["error"]["message"] == "busy"


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_a_cut_leaves_a_prefix(streamed: Scene, how: str) -> None:
    whole = healthy(streamed)
    reply = met(kinds.CutFault(after=3, how=how), streamed)  # type: ignore[arg-type]
    assert (reply.pieces, reply.end) == (whole.pieces[:3], End(how))
    inside = met(kinds.CutFault(after=3, extra_bytes=7), streamed)
    assert data(inside) == data(reply) + whole.pieces[3].data[:7]
    late = met(kinds.CutFault(after=1000, extra_bytes=7), streamed)
    assert late.pieces == whole.pieces


def test_a_cut_leaves_half_of_a_single_answer_and_its_whole_length(single: Scene) -> None:
    whole = healthy(single)
    reply = met(kinds.CutFault(after=9, extra_bytes=9, how="rst"), single)
    assert reply.end is End.RST
    assert reply.size_bytes == len(data(whole))
    assert data(reply) == data(whole)[: len(data(whole)) // 2]


def test_a_stall_is_silence_for_ever_or_one_long_gap(streamed: Scene) -> None:
    whole = healthy(streamed)
    silent = met(kinds.StallFault(after=2), streamed)
    assert (silent.pieces, silent.end) == (whole.pieces[:2], End.SILENT)
    late = met(kinds.StallFault(after=2, stall_s=0.5), streamed)
    assert data(late) == data(whole)
    assert [piece.delay_ms for piece in late.pieces[:4]] == [0, 5, 505, 5]
    assert met(kinds.StallFault(after=1000, stall_s=0.5), streamed) == whole


def test_a_single_answer_stalls_before_its_body(single: Scene) -> None:
    silent = met(kinds.StallFault(after=2), single)
    assert (silent.pieces, silent.end) == ((), End.SILENT)
    late = met(kinds.StallFault(after=2, stall_s=0.5), single)
    assert [piece.delay_ms for piece in late.pieces] == [500]


def test_a_drip_is_comments_and_then_the_rest_or_nothing(streamed: Scene) -> None:
    whole = healthy(streamed)
    reply = met(kinds.DripFault(after=1, interval_s=0.02, count=2), streamed)
    assert [piece.data for piece in reply.pieces] == [
        whole.pieces[0].data,
        KEEP_ALIVE,
        KEEP_ALIVE,
        *(piece.data for piece in whole.pieces[1:]),
    ]
    assert [piece.delay_ms for piece in reply.pieces[:3]] == [0, 20, 20]
    endless = met(kinds.DripFault(after=1), streamed)
    assert endless.pieces == whole.pieces[:1]
    assert endless.drip is not None
    assert (endless.drip.data, endless.drip.delay_ms) == (KEEP_ALIVE, 1000)


def test_a_drip_before_a_single_answer_is_blank_and_harmless(single: Scene) -> None:
    reply = met(kinds.DripFault(after=3, count=2), single)
    assert data(reply) == b"\n\n" + data(healthy(single))
    assert reply.size_bytes is None
    assert met(kinds.DripFault(), single).pieces == ()


def test_a_redirect_is_empty(streamed: Scene) -> None:
    reply = met(kinds.RedirectFault(location="/x", status=302), streamed)
    assert (reply.status, reply.headers) == (302, (("Location", "/x"),))
    assert (reply.pieces, reply.size_bytes) == ((), 0)


def test_a_key_in_a_header_leaves_the_answer_alone(streamed: Scene) -> None:
    reply = met(kinds.KeyEchoFault(where="header", form="base64"), streamed)
    assert reply.headers == (("x-debug-authorization", "Bearer c2stcmVoZWFyc2Vk"),)
    assert reply.pieces == healthy(streamed).pieces


@pytest.mark.parametrize("form", ["plain", "split"])
def test_a_key_in_an_error_is_whole_or_in_two_halves(single: Scene, form: str) -> None:
    reply = met(kinds.KeyEchoFault(form=form, status=403), single)  # type: ignore[arg-type]
    assert reply.status == 403
    assert KEY in json.loads(data(reply))["error"]["message"]
    assert reply.size_bytes == len(data(reply))
    held = [KEY.encode() in piece.data for piece in reply.pieces]
    assert held == ([True] if form == "plain" else [False, False])


def test_a_key_in_the_text_may_be_split_on_the_wire_or_over_two_events(streamed: Scene) -> None:
    split = met(kinds.KeyEchoFault(where="text", form="split"), streamed)
    assert KEY.encode() in data(split)
    assert not any(KEY.encode() in piece.data for piece in split.pieces)
    deltas = met(kinds.KeyEchoFault(where="text", form="deltas"), streamed)
    # Responses say a text once more as a whole: in three events that end it, and in the last.
    again = 4 if streamed.dialect is cast("Dialect", openai_responses) else 0
    assert sum(KEY.encode() in piece.data for piece in deltas.pieces) == again
    plain = met(kinds.KeyEchoFault(where="text"), streamed)
    assert sum(KEY.encode() in piece.data for piece in plain.pieces) == 1 + again


@pytest.mark.parametrize("dialect", DIALECTS)
def test_where_no_key_was_presented_nothing_is_split(dialect: ModuleType | str) -> None:
    place = scene(dialect, stream=False, key="")
    reply = met(kinds.KeyEchoFault(form="split"), place)
    assert len(reply.pieces) == 1


@pytest.mark.parametrize(("what", "size"), [("html", None), ("empty", 0)])
def test_a_page_or_nothing_takes_the_place_of_the_answer(
    streamed: Scene, what: str, size: int | None
) -> None:
    reply = met(kinds.GarbageFault(what=what), streamed)  # type: ignore[arg-type]
    assert (reply.status, reply.size_bytes) == (200, len(data(reply)))
    if size is None:
        assert data(reply).startswith(b"<!DOCTYPE html>")
    else:
        assert data(reply) == b""


def test_a_plain_line_ends_a_stream(streamed: Scene) -> None:
    reply = met(kinds.GarbageFault(what="line", after=2), streamed)
    assert data(reply) == data(met(kinds.CutFault(after=2), streamed)) + PROXY_LINE
    assert reply.end is End.CLEAN


def test_one_event_is_broken_and_the_others_are_not(streamed: Scene) -> None:
    whole = healthy(streamed)
    reply = met(kinds.GarbageFault(what="json", after=1), streamed)
    assert len(reply.pieces) == len(whole.pieces)
    broken = reply.pieces[1].data
    assert broken.endswith(b"\n\n")
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken.partition(b"data: ")[2])
    assert (reply.pieces[0], reply.pieces[2:]) == (whole.pieces[0], whole.pieces[2:])


def test_a_single_answer_can_be_a_line_or_broken_json(single: Scene) -> None:
    assert data(met(kinds.GarbageFault(what="line", after=1), single)) == PROXY_LINE
    with pytest.raises(json.JSONDecodeError):
        json.loads(data(met(kinds.GarbageFault(what="json", after=1), single)))
