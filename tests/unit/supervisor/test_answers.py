import hashlib
import os
from pathlib import Path

import pytest

from stanchion.protocol.events import AnswerFrozen, Event, FileSent, Warned
from stanchion.protocol.evidence import Answer, AnswerState
from stanchion.supervisor.answers import MOST_KEPT_BYTES, MOST_SENT_BYTES, PIECE_BYTES, Answers


async def freeze(answers: Answers) -> tuple[tuple[Answer, ...] | None, list[Event]]:
    sent: list[Event] = []

    async def send(event: Event) -> None:
        sent.append(event)

    return await answers.freeze(send), sent


async def test_undeclared_answers_are_unknown() -> None:
    assert await freeze(Answers(None)) == (None, [])


async def test_a_present_answer_is_hashed_and_sent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"content")
    sha256 = hashlib.sha256(b"content").hexdigest()
    frozen, sent = await freeze(Answers([str(path)]))
    answer = Answer(path=str(path), state=AnswerState.PRESENT, size_bytes=7, sha256=sha256)
    assert frozen == (answer,)
    assert sent == [
        FileSent(
            purpose="answer", path=str(path), offset=0, data=b"content", last=True, sha256=sha256
        ),
        AnswerFrozen(answer=answer),
    ]


async def test_a_long_answer_goes_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a"
    content = os.urandom(PIECE_BYTES * 2 + 1)
    path.write_bytes(content)
    _, sent = await freeze(Answers([str(path)]))
    pieces = [event for event in sent if isinstance(event, FileSent)]
    assert b"".join(piece.data for piece in pieces) == content
    assert [(p.offset, p.last, p.sha256 is not None) for p in pieces] == [
        (0, False, False),
        (PIECE_BYTES, False, False),
        (PIECE_BYTES * 2, True, True),
    ]


async def test_what_is_too_large_is_hashed_and_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(MOST_SENT_BYTES + 1)
    frozen, sent = await freeze(Answers([str(path)]))
    assert frozen is not None
    assert frozen[0].state is AnswerState.PRESENT
    assert frozen[0].sha256 is not None
    assert [type(event) for event in sent] == [Warned, AnswerFrozen]


@pytest.mark.parametrize("end", ["missing", "empty", "link"])
async def test_never_seen_is_absent_and_seen_before_is_lost(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a"
    never, seen = Answers([str(path)]), Answers([str(path)])
    never.look()
    path.write_text("content")
    seen.look()
    path.unlink()
    if end == "empty":
        path.touch()
    if end == "link":
        path.symlink_to("/etc/passwd")
    for answers, state in ((never, AnswerState.ABSENT), (seen, AnswerState.LOST)):
        frozen, sent = await freeze(answers)
        assert frozen is not None
        assert frozen[0].state is state
        assert not any(isinstance(event, FileSent) for event in sent)


async def test_cut_short_is_lost_and_longer_is_present(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("content")
    answers = Answers([str(path)])
    answers.look()
    path.write_text("cont")
    frozen, _ = await freeze(answers)
    assert frozen is not None
    assert (frozen[0].state, frozen[0].size_bytes) == (AnswerState.LOST, 4)
    path.write_text("content and more")
    frozen, _ = await freeze(answers)
    assert frozen is not None
    assert frozen[0].state is AnswerState.PRESENT


async def test_an_answer_that_the_agent_rewrote_shorter_while_it_ran_is_present(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    answers = Answers([str(path)])
    for text in ("a long first draft", "short"):
        path.write_text(text)
        answers.look()
    frozen, _ = await freeze(answers)
    assert frozen is not None
    assert frozen[0].state is AnswerState.PRESENT


async def test_written_anew_and_shorter_since_the_last_look_is_present(tmp_path: Path) -> None:
    path = tmp_path / "a"
    answers = Answers([str(path)])
    path.write_text("a long first draft")
    answers.look()
    path.write_text("short")
    frozen, sent = await freeze(answers)
    assert frozen is not None
    assert frozen[0].state is AnswerState.PRESENT
    (piece,) = [event for event in sent if isinstance(event, FileSent)]
    assert piece.data == b"short"


async def test_a_large_answer_that_shrank_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a"
    answers = Answers([str(path)])
    path.write_bytes(b"x" * (MOST_KEPT_BYTES + 1))
    answers.look()
    path.write_bytes(b"y" * MOST_KEPT_BYTES)
    frozen, _ = await freeze(answers)
    assert frozen is not None
    assert frozen[0].state is AnswerState.LOST
