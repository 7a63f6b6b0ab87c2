"""What a keeper leaves on the disk about itself."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.protocol.admin import OpenRun, RunOpenedReply
from stanchion.protocol.codec import PROTOCOL_VERSION, digest
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import AccountRef, FrozenLaunch
from stanchion.runner.keeper.notes import (
    NoteFile,
    mark_ended,
    read_attempt_file,
    read_notes,
)
from stanchion.runner.keeper.order import Order, Pieces, RehearsalOrder

LAUNCH = FrozenLaunch(
    spec=REHEARSAL_SPEC,
    account=AccountRef(
        name="rehearsal",
        dialect=Dialect.OPENAI_CHAT,
        base_url="http://127.0.0.1:1/v1",
        tls=False,
        credential="rehearsal",
        fingerprint=None,
    ),
)
OPENED = RunOpenedReply(
    id="7f3a90c41b22.1", directory="/run/d", launch=LAUNCH, launch_sha256=digest(LAUNCH)
)


@pytest.fixture
def order(tmp_path: Path) -> Order:
    (tmp_path / "result").mkdir()
    return Order(
        admin_socket="/a",
        open_run=OpenRun(
            protocol=PROTOCOL_VERSION, run="7f3a90c41b22", attempt=1, spec=REHEARSAL_SPEC
        ),
        pieces=Pieces(runsc="/runsc", rootfs="/r", bundle="/b", harness="/h", command=("x",)),
        instruction="",
        task_folder="/tasks/hello",
        result_folder=str(tmp_path / "result"),
        scratch_folder="/scratch",
        sandbox_id="ab" * 16,
        notes_folder=str(tmp_path / "attempts"),
        rehearsal=RehearsalOrder(script="/tasks/hello/rehearsal.toml", key="sk-secret"),
    )


def test_the_note_tells_who_keeps_what_from_before_the_opening_to_the_end(
    order: Order, tmp_path: Path
) -> None:
    file = NoteFile(order, os.getpid())
    (before,) = read_notes(tmp_path / "attempts")
    file.opened(OPENED)
    (open_note,) = read_notes(tmp_path / "attempts")
    file.ended()
    (ended,) = read_notes(tmp_path / "attempts")

    assert (before.attempt, before.directory, before.is_orphan) == (
        "7f3a90c41b22.1", None, False,
    )  # fmt: skip
    assert open_note.directory == "/run/d"
    assert msgspec.structs.replace(open_note, pid=1, identity="other").is_orphan
    assert ended.ended_at_ms is not None
    assert not msgspec.structs.replace(ended, pid=1, identity="other").is_orphan


def test_the_terms_stand_beside_the_results_without_any_key(order: Order, tmp_path: Path) -> None:
    NoteFile(order, os.getpid()).opened(OPENED)

    terms = read_attempt_file(tmp_path / "result")
    assert terms is not None
    assert (terms.launch, terms.task_folder) == (LAUNCH, "/tasks/hello")
    assert terms.rehearsal_script == "/tasks/hello/rehearsal.toml"
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*.json"))
    assert b"sk-secret" not in written


def test_an_attempt_that_was_not_opened_leaves_no_note(order: Order, tmp_path: Path) -> None:
    NoteFile(order, os.getpid()).discard()

    assert read_notes(tmp_path / "attempts") == []
    assert read_attempt_file(tmp_path / "result") is None


def test_a_note_can_be_ended_for_a_keeper_that_is_gone(order: Order, tmp_path: Path) -> None:
    NoteFile(order, os.getpid())
    (note,) = read_notes(tmp_path / "attempts")
    mark_ended(tmp_path / "attempts", note)

    assert read_notes(tmp_path / "attempts")[0].ended_at_ms is not None


def test_what_is_no_note_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    assert read_notes(tmp_path) == []
    assert read_notes(tmp_path / "nowhere") == []


def test_a_folder_that_cannot_be_written_does_not_stop_the_keeper(
    order: Order, tmp_path: Path
) -> None:
    (tmp_path / "attempts").write_text("in the way")
    NoteFile(order, os.getpid()).ended()

    assert (tmp_path / "attempts").read_text() == "in the way"
