"""A rerun is refused, by name, where a piece is not what was frozen."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from tests.fakes.receipts import frozen_launch
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import StatePaths
from stanchion.protocol.launch import FrozenLaunch, TaskRef
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.keeper.notes import AttemptFile
from stanchion.runner.launching.again import (
    _check_pieces,
    other_account,
    prepare_again,
    read_terms,
)
from stanchion.runner.results.job_folder import write_json
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import read_task


def terms_of(folder: Path) -> AttemptFile:
    """As frozen with the task as it is now."""
    task = read_task(folder)
    spec = msgspec.structs.replace(
        REHEARSAL_SPEC,
        task=TaskRef(
            name=task.name, sha256=task.sha256, instruction_sha256=task.instruction_sha256
        ),
    )
    return AttemptFile(
        run="7f3a90c41b22",
        attempt=1,
        launch=FrozenLaunch(spec=spec, account=frozen_launch().account),
        launch_sha256="a" * 64,
        task_folder=str(folder),
        untouched_reward="0",
        keeper_pid=os.getpid(),
        keeper_identity="x",
    )


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    return Path(shutil.copytree(example_task("hello"), tmp_path / "hello"))


def test_the_terms_are_read_from_beside_the_results(hello: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "attempt.json", terms_of(hello))

    assert read_terms(tmp_path) == terms_of(hello)


def test_without_the_terms_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"no attempt\.json"):
        read_terms(tmp_path)


async def test_a_task_that_was_changed_is_refused_before_anything_starts(
    hello: Path, paths: StatePaths
) -> None:
    terms = terms_of(hello)
    (hello / "instruction.md").write_text("Say goodbye.\n")

    with pytest.raises(RefusedError, match="its task's folder") as refused:
        await prepare_again(terms, paths, None, print)
    assert refused.value.refusal.id == "rerun_differs"


@dataclass
class Piece:
    """As far as it is compared."""

    digest: str


@dataclass
class Pieces:
    """Of this host."""

    base: Piece | None
    harness: Piece


@pytest.mark.parametrize(
    ("base", "harness", "named"),
    [
        ("e" * 64, "d" * 64, "the root file system"),
        (None, "d" * 64, "the root file system"),
        ("c" * 64, "e" * 64, "the harness"),
    ],
)
def test_another_base_or_harness_is_refused(base: str | None, harness: str, named: str) -> None:
    pieces = Pieces(base and Piece(base), Piece(harness))
    with pytest.raises(RefusedError, match=named):
        _check_pieces(REHEARSAL_SPEC, pieces)


def test_the_same_base_and_harness_pass() -> None:
    _check_pieces(REHEARSAL_SPEC, Pieces(Piece("c" * 64), Piece("d" * 64)))


def test_an_account_that_pays_otherwise_than_then_is_said() -> None:
    then = frozen_launch().account
    moved = msgspec.structs.replace(then, base_url="http://elsewhere/v1")
    keyed = msgspec.structs.replace(then, fingerprint="ff")
    played = msgspec.structs.replace(moved, name="rehearsal")

    assert other_account(then, then) is None
    assert "is now at http://elsewhere/v1" in str(other_account(then, moved))
    assert "another key" in str(other_account(then, keyed))
    assert other_account(msgspec.structs.replace(then, name="rehearsal"), played) is None
