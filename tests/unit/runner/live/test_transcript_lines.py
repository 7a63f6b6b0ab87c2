"""Items become entries once, as they grow."""

import msgspec

from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage
from stanchion.runner.live.transcript_lines import Entry, TranscriptReader, arguments_text


def an_item(kind: ItemKind, item_id: str = "1", **fields: object) -> TranscriptItem:
    item = TranscriptItem(id=item_id, session="s", kind=kind, at_ms=5)
    return msgspec.structs.replace(item, **fields)


def a_call(status: str, output: str | None = None) -> TranscriptItem:
    tool = ToolUse(name="bash", status=status, arguments='{"command": "ls -l"}', output=output)
    return an_item(ItemKind.TOOL, tool=tool)


def words(reader: TranscriptReader, *items: TranscriptItem) -> list[tuple[str, str]]:
    return [(entry.label, entry.text) for item in items for entry in reader.read(item)]


def test_a_text_that_grows_is_said_once() -> None:
    reader = TranscriptReader()
    grown = [an_item(ItemKind.TEXT, text=text) for text in ("I ", "I will", "I will")]

    assert words(reader, *grown) == [("text", "I "), ("text", "will")]


def test_a_text_that_was_written_anew_is_said_anew() -> None:
    reader = TranscriptReader()
    items = [an_item(ItemKind.TEXT, text=text) for text in ("yes", "no")]

    assert words(reader, *items) == [("text", "yes"), ("text", "no")]


def test_a_call_is_said_when_it_starts_and_when_it_ends() -> None:
    reader = TranscriptReader()
    told = words(reader, a_call("running"), a_call("running", "x"), a_call("completed", "x\n"))

    assert told == [("bash", "ls -l"), ("bash completed", "x")]
    assert words(reader, a_call("completed", "x\n")) == []


def test_a_call_that_is_seen_only_at_its_end_is_said_whole() -> None:
    assert words(TranscriptReader(), a_call("error", "no such file")) == [
        ("bash", "ls -l"),
        ("bash error", "no such file"),
    ]


def test_long_output_is_cut_unless_all_is_wanted() -> None:
    output = "".join(f"{number}\n" for number in range(20))
    short = words(TranscriptReader(), a_call("completed", output))[1][1]
    full = words(TranscriptReader(full=True), a_call("completed", output))[1][1]

    assert short.endswith("… 12 more")
    assert full.count("\n") == 19


def test_a_step_says_why_it_stopped_and_what_it_used() -> None:
    usage = Usage(input_tokens=7, output_tokens=None, reasoning_tokens=3)
    step = an_item(ItemKind.STEP_END, finish="stop", usage=usage)

    assert words(TranscriptReader(), step, step) == [
        ("step", "stop · in 7 out unknown reasoning 3")
    ]
    assert words(TranscriptReader(), an_item(ItemKind.STEP_END)) == [("step", "unknown")]


def test_a_compaction_without_words_is_said_once() -> None:
    item = an_item(ItemKind.COMPACTION)

    assert words(TranscriptReader(), item, item) == [
        ("compaction", "the conversation was compacted")
    ]


def test_errors_and_sub_agents_are_marked() -> None:
    error = an_item(ItemKind.ERROR, text="\x1b[31mboom", parent_session="p")

    assert TranscriptReader().read(error) == [
        Entry(at_ms=5, label="sub-agent error", kind=ItemKind.ERROR, text="\ufffd[31mboom")
    ]


def test_arguments_in_few_words() -> None:
    assert arguments_text('{"command": "make\\n  test", "timeout": 3}') == "make test"
    assert arguments_text('{"path": "/a", "lines": [1, 2]}') == "path=/a lines=[1, 2]"
    assert arguments_text("not json") == "not json"
    assert arguments_text('{"command": {"a": 1}}') == '{"a": 1}'
