import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.sse import SseEvent, SseOverflowError, SseSplitter, StrayLine


def split(*pieces: bytes, close: bool = False) -> list[SseEvent | StrayLine]:
    splitter = SseSplitter()
    found = [event for piece in pieces for event in splitter.feed(piece)]
    return found + (list(splitter.close()) if close else [])


def test_fields_comments_and_names() -> None:
    stream = b": hi\nid: 7\nretry: 3\nevent: ping\ndata: a\ndata:b\n\n"
    assert split(stream) == [SseEvent(b"a\nb", b"ping")]


def test_only_one_space_belongs_to_the_colon() -> None:
    assert split(b"data:  a\n\n") == [SseEvent(b" a")]


def test_an_event_without_data_is_none() -> None:
    assert split(b"event: ping\n\n\n\n") == []


def test_a_line_that_is_no_field_is_told_apart() -> None:
    assert split(b"upstream reset\n") == [StrayLine(b"upstream reset")]


def test_what_is_left_at_the_end_counts() -> None:
    assert split(b"data: a") == []
    assert split(b"data: a", close=True) == [SseEvent(b"a")]


def test_a_lone_carriage_return_ends_a_line() -> None:
    assert split(b"data: a\r\rdata: b\r\r", close=True) == [SseEvent(b"a"), SseEvent(b"b")]


def test_a_crlf_that_is_cut_is_one_line_end() -> None:
    assert split(b"data: a\r", b"\ndata: b\r\n\r", b"\n") == [SseEvent(b"a\nb")]


def test_a_line_of_a_megabyte_may_come_byte_by_byte() -> None:
    """Nothing is looked at twice: twice would be a thousand billion times here."""
    splitter = SseSplitter()
    for _ in range(1 << 20):
        assert list(splitter.feed(b":")) == []
    assert list(splitter.feed(b"\ndata: a\n\n")) == [SseEvent(b"a")]


def test_the_unfinished_event_can_be_looked_at() -> None:
    splitter = SseSplitter()
    assert list(splitter.feed(b"data: a\ndata: [DO")) == []
    assert splitter.unfinished == b"a\ndata: [DO"


@pytest.mark.parametrize("stream", [b"d" * 101, b"data: aaaaaaaa\n" * 20, b"data:\n" * 101])
def test_lines_and_events_are_bounded(stream: bytes) -> None:
    splitter = SseSplitter(max_line_bytes=100, max_event_bytes=100)
    with pytest.raises(SseOverflowError):
        list(splitter.feed(stream))


@given(
    st.lists(st.sampled_from([b"data: a", b": c", b"event: x", b"", b"junk", b"data"]), max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(1, 5), max_size=30),
)
def test_the_cut_never_matters(lines: list[bytes], end: bytes, sizes: list[int]) -> None:
    stream = end.join([*lines, b""])
    pieces, rest = [], stream
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    assert split(*pieces, rest, close=True) == split(stream, close=True)


WHOLE = [
    (b"data: {}\n\n", SseEvent(b"{}")),
    (b"data:  x\n\n", SseEvent(b" x")),
    (b"event: a\ndata: {}\n\n", SseEvent(b"{}", b"a")),
]
PARTS = [
    b"data: {}\n", b"data: {}", b"\n\n", b": ping\n\n", b"data: {}\r\n\r\n", b"data: a\rb\n\n",
    b"data: 1\ndata: 2\n\n", b"id: 1\ndata: {}\n\n", b"data:x\n\n",
    b"event: a\n\n", b"event: a\nid: 1\ndata: {}\n\n", b"data: {}\n\n\n", b"\ndata: {}\n\n",
]  # fmt: skip


def begun() -> SseSplitter:
    """Beyond the first line of its stream."""
    splitter = SseSplitter()
    assert list(splitter.feed(b": first\n\n")) == []
    return splitter


@pytest.mark.parametrize(("data", "event"), WHOLE)
def test_whole_events_are_taken_in_one_step(data: bytes, event: SseEvent) -> None:
    for count in (1, 3):
        assert begun().whole(data * count) == [event.data] * count
        assert list(begun().feed(data * count)) == [event] * count
    assert SseSplitter().whole(data) is None  # a byte order mark may stand there


@pytest.mark.parametrize("data", PARTS)
def test_anything_else_is_read_by_lines(data: bytes) -> None:
    assert begun().whole(data) is None


@pytest.mark.parametrize("start", [b"data: 1\n", b"da", b"event: x\n", b": c\r"])
def test_nothing_is_taken_in_one_step_while_an_event_is_under_way(start: bytes) -> None:
    splitter = begun()
    list(splitter.feed(start))
    assert splitter.whole(WHOLE[0][0]) is None
    assert not splitter.is_between_events
    assert begun().is_between_events
    assert not SseSplitter().is_between_events
    assert SseSplitter(max_line_bytes=8).whole(b"data: 123456\n\n") is None
