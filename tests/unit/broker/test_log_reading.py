from collections.abc import Callable
from pathlib import Path

import pytest

from stanchion.broker.log_reading import PIECE_BYTES, added, last_lines


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "broker.log"
    file.write_bytes(b"one\ntwo\nthree\n")
    return file


def test_the_last_lines_and_the_length(log: Path) -> None:
    assert last_lines(log, 2) == (b"two\nthree\n", 14)
    assert last_lines(log, 99) == (b"one\ntwo\nthree\n", 14)
    assert last_lines(log, 0) == (b"", 14)


def test_a_log_of_many_pieces(log: Path) -> None:
    line = b"x" * 99 + b"\n"
    log.write_bytes(line * (3 * PIECE_BYTES // 100))
    found, _ = last_lines(log, PIECE_BYTES // 50)
    assert found == line * (PIECE_BYTES // 50)


def test_a_log_without_a_line_end(log: Path) -> None:
    log.write_bytes(b"one\ntwo")
    assert last_lines(log, 1)[0] == b"two"


def after(*steps: Callable[[], object]) -> Callable[[], None]:
    """A pause in which the next thing happens to the file; then it is over."""
    left = list(steps)

    def pause() -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    return pause


def test_what_is_added_emptied_or_replaced_is_told(log: Path) -> None:
    def append() -> None:
        with log.open("ab") as file:
            file.write(b"four\n")

    pause = after(
        append, lambda: log.write_bytes(b"5\n"), log.unlink, lambda: log.write_bytes(b"6\n")
    )
    seen: list[bytes] = []

    def follow() -> None:
        for piece in added(log, 14, pause):
            seen.append(piece)  # noqa: PERF402 - what came before the end is wanted

    with pytest.raises(KeyboardInterrupt):
        follow()
    assert seen == [b"four\n", b"5\n", b"6\n"]
