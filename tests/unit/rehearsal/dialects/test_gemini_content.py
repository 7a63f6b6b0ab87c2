import json
from typing import Any

from stanchion.rehearsal.dialects.building import sealed
from stanchion.rehearsal.dialects.gemini_content import content_events, whole_response
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Asked, Ending
from unit.rehearsal.dialects.answers import IDENTITY, answer
from unit.rehearsal.dialects.test_anthropic_messages import CALL

ASKED = Asked(
    model="gemini-any",
    stream=True,
    include_usage=True,
    tools=("Bash",),
    turns_taken=0,
    body_bytes=40,
    conversation="c",
)
OTHER = ToolCall(name="Read", arguments={})


def events(**fields: Any) -> list[dict[str, Any]]:
    found = []
    for data in content_events(ASKED, answer(**fields), IDENTITY):
        assert data.startswith(b"data: ")
        assert data.endswith(b"\n\n")
        found.append(json.loads(data.removeprefix(b"data: ")))
    return found


def whole(**fields: Any) -> dict[str, Any]:
    return dict(whole_response(ASKED, answer(**fields), IDENTITY))


def parts(document: dict[str, Any]) -> list[dict[str, Any]]:
    (candidate,) = document["candidates"]
    assert (candidate["index"], candidate["content"]["role"]) == (0, "model")
    found: list[dict[str, Any]] = candidate["content"]["parts"]
    return found


def reason(document: dict[str, Any]) -> Any:
    return document["candidates"][0].get("finishReason")


def test_every_event_is_a_response_and_the_last_one_says_why() -> None:
    said = events(reasoning="one two three four", text="hi there")
    assert [parts(document) for document in said] == [
        [{"text": "one two three ", "thought": True}],
        [{"text": "four", "thought": True}],
        [{"text": "hi there"}],
        [{"text": "", "thoughtSignature": sealed("one two three four")}],
    ]
    assert [reason(document) for document in said] == [None, None, None, "STOP"]
    for document in said:
        assert document["modelVersion"] == "gemini-any"
        assert document["responseId"] == IDENTITY.token[:22]


def test_a_call_comes_whole_and_the_first_one_is_signed() -> None:
    said = events(reasoning="so", calls=(CALL, OTHER))
    first, second = parts(said[1])[0], parts(said[2])[0]
    assert (first["functionCall"]["name"], first["functionCall"]["args"]) == (
        "Bash",
        {"command": "ls"},
    )
    assert first["thoughtSignature"] == sealed("so")
    assert second["functionCall"]["args"] == {}
    assert first["functionCall"]["id"] != second["functionCall"]["id"]
    assert "thoughtSignature" not in second
    assert parts(said[3]) == [{"text": ""}]


def test_usage_grows_and_counts_thoughts_beside_the_candidates() -> None:
    said = events(text="hi", usage=Usage(prompt_tokens=10, completion_tokens=5, reasoning_tokens=2))
    assert said[0]["usageMetadata"] == {"promptTokenCount": 10, "totalTokenCount": 10}
    assert said[1]["usageMetadata"] == {
        "promptTokenCount": 10,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 15,
    }


def test_what_is_not_counted_is_left_out() -> None:
    for document in events(text="hi", usage=None):
        assert "usageMetadata" not in document
    assert "usageMetadata" not in whole(text="hi", usage=None)
    plain = whole(text="hi", usage=Usage(prompt_tokens=10, completion_tokens=5))
    assert "thoughtsTokenCount" not in plain["usageMetadata"]
    assert plain["usageMetadata"]["candidatesTokenCount"] == 5


def test_reasons_are_the_vendors_words_and_any_other_stands() -> None:
    for finish, word in (
        (None, "STOP"),
        ("tool_calls", "STOP"),
        ("length", "MAX_TOKENS"),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    ):
        assert reason(events(finish=finish)[-1]) == word
        assert reason(whole(finish=finish)) == word


def test_without_a_reason_there_is_no_last_event() -> None:
    for ending in (Ending.MARKER, Ending.NOTHING):
        assert [reason(document) for document in events(text="hi", ending=ending)] == [None]
        assert reason(whole(text="hi", ending=ending)) is None


def test_a_call_that_is_cut_is_not_there() -> None:
    said = events(calls=(CALL, OTHER), cut_call=True, finish="length")
    assert [part["functionCall"]["name"] for part in parts(said[0])] == ["Bash"]
    assert (len(said), reason(said[1])) == (2, "MAX_TOKENS")
    assert parts(whole(calls=(CALL,), cut_call=True, finish="length")) == []


def test_a_whole_response_says_the_same() -> None:
    document = whole(reasoning="so", text="hi", echo=(" you",), calls=(CALL,))
    thought, text, call = parts(document)
    assert thought == {"text": "so", "thought": True}
    assert text == {"text": "hi you"}
    assert call["thoughtSignature"] == sealed("so")
    (_, spoken) = parts(whole(reasoning="so", text="hi"))
    assert spoken == {"text": "hi", "thoughtSignature": sealed("so")}


def test_a_paused_answer_ends_with_its_reasoning() -> None:
    said = events(reasoning="so", text="hi", paused=True)
    assert [parts(document) for document in said] == [[{"text": "so", "thought": True}]]
