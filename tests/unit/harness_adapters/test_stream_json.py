import pytest

from stanchion.harness_adapters import stream_json
from stanchion.harness_adapters.stream_json import Block, Line, Telling
from stanchion.protocol.events import StepSaved
from stanchion.protocol.transcript import ItemKind, TranscriptItem


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}, 3], "a\nb"),
        (None, ""),
        ({"text": "a"}, ""),
    ],
)
def test_a_tool_result_is_told_as_text(content: object, text: str) -> None:
    assert stream_json.plain(content) == text


def test_a_call_begins_and_its_result_ends_it() -> None:
    begun = Block(type="tool_use", id="c", name="Bash").call()
    assert begun is not None
    assert (begun.name, begun.call_id, begun.status, begun.arguments) == (
        *("Bash", "c", "running", "{}"),
    )
    for is_error, status in ((None, "completed"), (False, "completed"), (True, "error")):
        over = Block(type="tool_result", content="out", is_error=is_error).answered(begun)
        assert (over.name, over.call_id, over.status, over.output) == ("Bash", "c", status, "out")


@pytest.mark.parametrize(
    "block",
    [
        Block(type="text", id="c", name="Bash"),
        Block(type="tool_use", name="Bash"),
        Block(type="tool_use", id="c"),
    ],
)
def test_what_is_no_whole_call_is_none(block: Block) -> None:
    assert block.call() is None


@pytest.mark.parametrize(
    ("within", "session", "parent"), [(None, "root", None), ("call", "call", "root")]
)
def test_what_is_said_belongs_to_the_run_or_to_the_call_that_started_it(
    within: str | None, session: str, parent: str | None
) -> None:
    telling = Telling(root="root")
    said = telling.item(Line(type="x", parent_tool_use_id=within), "1", ItemKind.TEXT, text="hi")
    assert (said.session, said.parent_session, said.text) == (session, parent, "hi")
    end, step = telling.step(within, "1", "end_turn", counts=True)
    assert isinstance(end, TranscriptItem)
    assert (end.session, end.parent_session, end.finish) == (session, parent, "end_turn")
    assert step == StepSaved(session=session, id="1", reason="end_turn", counts=True)
