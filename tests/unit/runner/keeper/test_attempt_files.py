"""What a sandbox finds in its attempt directory."""

from pathlib import Path

import msgspec
import pytest
from tests.fakes.samples import sample

from stanchion.protocol.admin import RunOpenedReply
from stanchion.protocol.codec import decode, digest
from stanchion.protocol.launch import FrozenLaunch
from stanchion.runner.keeper.attempt_files import (
    LaunchAlteredError,
    lay_out,
    place_token,
    remove,
)
from stanchion.runner.keeper.order import Order
from stanchion.runner.tasks.examples import example_task

LAUNCH = sample(FrozenLaunch)


def opened(directory: Path) -> RunOpenedReply:
    return RunOpenedReply(
        id="7f3a90c41b22.1",
        directory=str(directory),
        launch=LAUNCH,
        launch_sha256=digest(LAUNCH),
    )


@pytest.fixture
def order() -> Order:
    task_folder = str(example_task("fix-bug"))
    return msgspec.structs.replace(
        sample(Order), task_folder=task_folder, instruction="Mend it. ✓\n"
    )


def test_the_sandbox_finds_what_it_needs_and_nothing_else(order: Order, tmp_path: Path) -> None:
    lay_out(order, opened(tmp_path))
    place_token(tmp_path, "st1_token")

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "enrol.token", "instruction.md", "launch.json", "tests", "workdir",
    ]  # fmt: skip
    assert decode((tmp_path / "launch.json").read_bytes(), FrozenLaunch) == LAUNCH
    assert (tmp_path / "instruction.md").read_text() == "Mend it. ✓\n"
    assert (tmp_path / "enrol.token").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "workdir" / "ledger" / "shares.py").is_file()
    names = {path.name for path in tmp_path.rglob("*")}
    assert not names & {"solve.sh", "rehearsal.toml", "task.toml"}


def test_a_task_without_initial_files_has_no_workdir(order: Order, tmp_path: Path) -> None:
    order = msgspec.structs.replace(order, task_folder=str(example_task("hello")))
    lay_out(order, opened(tmp_path))

    assert not (tmp_path / "workdir").exists()


def test_a_launch_that_is_not_the_frozen_one_is_not_started(order: Order, tmp_path: Path) -> None:
    altered = msgspec.structs.replace(opened(tmp_path), launch_sha256="0" * 64)
    with pytest.raises(LaunchAlteredError):
        lay_out(order, altered)
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_placed_once(tmp_path: Path) -> None:
    place_token(tmp_path, "a")
    with pytest.raises(FileExistsError):
        place_token(tmp_path, "b")


def test_a_directory_that_is_gone_can_be_removed(tmp_path: Path) -> None:
    remove(tmp_path / "gone")
    (tmp_path / "there" / "x").mkdir(parents=True)
    remove(tmp_path / "there")
    assert list(tmp_path.iterdir()) == []


def test_only_the_oracle_finds_the_solution(order: Order, tmp_path: Path) -> None:
    spec = msgspec.structs.replace(
        LAUNCH.spec, harness=msgspec.structs.replace(LAUNCH.spec.harness, name="oracle")
    )
    launch = msgspec.structs.replace(LAUNCH, spec=spec)
    reply = msgspec.structs.replace(opened(tmp_path), launch=launch, launch_sha256=digest(launch))
    lay_out(order, reply)
    assert (tmp_path / "solution" / "solve.sh").is_file()
    assert not (tmp_path / "rehearsal.toml").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../task.toml"])
def test_a_link_out_of_the_tests_is_refused_by_name(
    order: Order, tmp_path: Path, target: str
) -> None:
    task = tmp_path / "task"
    (task / "tests" / "inner").mkdir(parents=True)
    (task / "task.toml").touch()
    (task / "tests" / "test.sh").touch()
    (task / "tests" / "inner" / "same").symlink_to("../test.sh")
    order = msgspec.structs.replace(order, task_folder=str(task))
    directory = tmp_path / "directory"
    directory.mkdir()
    lay_out(order, opened(directory))
    assert (directory / "tests" / "inner" / "same").is_symlink()
    (task / "tests" / "inner" / "out").symlink_to(target)
    with pytest.raises(OSError, match="tests/inner/out is a link"):
        lay_out(order, opened(directory))
