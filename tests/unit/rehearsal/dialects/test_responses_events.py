import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stanchion.rehearsal.dialects.responses_events import DONE, event, response_events
from stanchion.rehearsal.dialects.responses_items import final_response
from stanchion.rehearsal.script import ToolCall
from stanchion.rehearsal.turns import Answer, Ending
from unit.rehearsal.dialects.answers import IDENTITY, answer
from unit.rehearsal.dialects.test_responses_items import ASKED, BASH, PATCH


def sent(said: Answer) -> list[dict[str, Any]]:
    """The documents, each under the name that its event line has and with the next number."""
    documents: list[dict[str, Any]] = []
    for data in response_events(ASKED, said, IDENTITY):
        if data == DONE:
            continue
        name, line, *end = data.decode().split("\n")
        assert end == ["", ""]
        document = json.loads(line.removeprefix("data: "))
        assert name == f"event: {document['type']}"
        assert document.pop("sequence_number") == len(documents)
        documents.append(document)
    return documents


def types(said: Answer) -> list[str]:
    return [document["type"].removeprefix("response.") for document in sent(said)]


def test_a_response_streams_item_by_item_in_the_vendors_order() -> None:
    said = answer(reasoning="one two three four", text="hi", calls=(BASH,))
    documents = sent(said)
    assert types(said) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [d["output_index"] for d in documents if "output_index" in d] == [
        *[0] * 7,
        *[1] * 6,
        *[2] * 4,
    ]
    assert documents[0]["response"]["status"] == "in_progress"
    assert documents[-1]["response"] == final_response(ASKED, said, IDENTITY)
    ended = [d["item"] for d in documents if d["type"] == "response.output_item.done"]
    assert ended == documents[-1]["response"]["output"]


def test_the_events_of_an_item_name_it() -> None:
    documents = sent(answer(reasoning="a", text="hi", calls=(BASH, PATCH)))
    at = {d["output_index"]: d["item"]["id"] for d in documents if "item" in d}
    named = [d for d in documents if "item_id" in d]
    assert len(at) == 4
    assert all(d["item_id"] == at[d["output_index"]] for d in named)


def test_a_tool_of_free_text_has_events_of_its_own() -> None:
    assert types(answer(calls=(PATCH,)))[2:-1] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert sent(answer(calls=(PATCH,)))[-3]["input"] == "*** Begin Patch"


def test_a_call_that_is_cut_at_the_limit_never_says_that_it_is_done() -> None:
    said = answer(calls=(BASH,), finish="length", cut_call=True)
    assert types(said)[2:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "output_item.done",
        "incomplete",
    ]
    assert sent(said)[-2]["item"]["status"] == "incomplete"


def test_a_paused_turn_leaves_its_reasoning_open() -> None:
    assert types(answer(reasoning="thinking", paused=True)) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
    ]
    assert types(answer(paused=True)) == ["created", "in_progress"]


def test_an_ending_may_be_missing() -> None:
    marker = answer(text="hi", ending=Ending.MARKER)
    assert types(marker)[-1] == "output_item.done"
    assert list(response_events(ASKED, marker, IDENTITY))[-1] == DONE
    nothing = answer(text="hi", ending=Ending.NOTHING)
    assert types(nothing) == types(marker)
    assert DONE not in list(response_events(ASKED, nothing, IDENTITY))


def test_what_is_echoed_is_text_in_deltas_of_its_own() -> None:
    documents = sent(answer(text="hi", echo=("a b c d", "e")))
    texts = [d["delta"] for d in documents if d["type"] == "response.output_text.delta"]
    assert texts == ["hi", "a b c d", "e"]
    (whole,) = [d["text"] for d in documents if d["type"] == "response.output_text.done"]
    assert whole == "hia b c de"


def test_an_event_is_named_by_its_type() -> None:
    written = event("response.queued", 3, {"a": 1})
    assert written == (
        b'event: response.queued\ndata: {"type":"response.queued","sequence_number":3,"a":1}\n\n'
    )


@given(reasoning=st.text(), text=st.text(), arguments=st.dictionaries(st.text(), st.text()))
def test_the_deltas_join_to_what_the_script_said(
    reasoning: str, text: str, arguments: dict[str, object]
) -> None:
    said = answer(
        reasoning=reasoning, text=text, calls=(ToolCall(name="bash", arguments=arguments),)
    )
    joined = {"reasoning_summary_text": "", "output_text": "", "function_call_arguments": ""}
    for document in sent(said):
        for kind in joined:
            if document["type"] == f"response.{kind}.delta":
                joined[kind] += document["delta"]
    assert (joined["reasoning_summary_text"], joined["output_text"]) == (reasoning, text)
    assert json.loads(joined["function_call_arguments"]) == arguments
