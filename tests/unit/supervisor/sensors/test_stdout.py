import asyncio

from stanchion.supervisor.sensors.stdout import Lines, pump


def test_lines_come_whole_however_they_are_cut() -> None:
    lines = Lines()
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o\n\nthr") == [b"two", b""]
    assert lines.end() == [b"thr"]


def test_a_line_that_is_too_long_is_left_out_and_the_next_is_read() -> None:
    lines = Lines(most_bytes=4)
    assert lines.feed(b"12345") == []
    assert lines.feed(b"6789\nnext\n") == [b"next"]
    assert lines.feed(b"12345\nafter") == []
    assert lines.end() == []
    assert Lines().end() == []


async def test_a_pump_passes_every_byte_and_the_last_line() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"a" * 100_000 + b"\nlast")
    reader.feed_eof()
    chunks: list[bytes] = []
    lines: list[bytes] = []
    await pump(reader, chunks.append, lines.append)
    assert b"".join(chunks) == b"a" * 100_000 + b"\nlast"
    assert lines == [b"a" * 100_000, b"last"]


async def test_output_without_a_reader_of_lines_is_only_passed_on() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"x")
    reader.feed_eof()
    chunks: list[bytes] = []
    await pump(reader, chunks.append)
    assert chunks == [b"x"]
