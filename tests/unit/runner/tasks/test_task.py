"""Which task folders can be run, and what is read from them."""

from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import read_task, strip_canary

MINIMAL = 'schema_version = "1.4"\n[metadata.stanchion]\nbase = "debian"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    task = tmp_path / "greet"
    (task / "tests").mkdir(parents=True)
    (task / "tests" / "test.sh").write_text("#!/bin/sh\n")
    (task / "instruction.md").write_text("Say hello.\n")
    (task / "task.toml").write_text(MINIMAL)
    return task


def test_the_examples_can_be_run() -> None:
    for name in ("hello", "fix-bug"):
        task = read_task(example_task(name))
        assert task.name == name
        assert task.config.workdir == "/work"
        assert task.rehearsal_script.is_file()


def test_a_minimal_task_has_its_name_from_its_folder(folder: Path) -> None:
    task = read_task(folder)

    assert (task.name, task.instruction, task.workdir_files) == ("greet", "Say hello.\n", None)


def test_initial_files_come_from_the_environment(folder: Path) -> None:
    (folder / "environment" / "workdir").mkdir(parents=True)

    assert read_task(folder).workdir_files == folder / "environment" / "workdir"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Do it.\n", "Do it.\n"),
        ("<!-- BENCHMARK DATA canary GUID 1 -->\n# canary 2\n\nDo it.\n", "Do it.\n"),
        ("# A heading\n\nDo it.\n", "# A heading\n\nDo it.\n"),
        ("<!-- a note -->\nDo it.\n", "<!-- a note -->\nDo it.\n"),
        ("Do it.\n<!-- canary -->\n", "Do it.\n<!-- canary -->\n"),
        ("", ""),
    ],
)
def test_only_leading_canary_lines_are_stripped(text: str, left: str) -> None:
    assert strip_canary(text) == left


@pytest.mark.parametrize(
    ("missing", "field"),
    [
        ("task.toml", "task.toml"),
        ("instruction.md", "instruction.md"),
        ("tests/test.sh", "tests/test.sh"),
    ],
)
def test_a_missing_file_is_named(folder: Path, missing: str, field: str) -> None:
    (folder / missing).unlink()

    with pytest.raises(RefusedError) as refused:
        read_task(folder)
    assert refused.value.refusal.field == field


def test_a_service_beside_the_sandbox_is_refused(folder: Path) -> None:
    (folder / "environment").mkdir()
    (folder / "environment" / "docker-compose.yaml").write_text("services: {}\n")
    with pytest.raises(RefusedError, match=r"docker-compose\.yaml"):
        read_task(folder)


def test_a_dockerfile_needs_a_base_or_an_image_in_its_place(folder: Path) -> None:
    (folder / "environment").mkdir()
    (folder / "environment" / "Dockerfile").write_text("FROM x\n")
    assert "base debian" in read_task(folder).config.notes["image.verified"]
    (folder / "task.toml").write_text("")
    assert "image" in read_task(folder, image_given=True).config.notes["image.verified"]
    with pytest.raises(RefusedError, match="Dockerfile") as refused:
        read_task(folder)
    assert "--image DIR" in refused.value.refusal.remedy


def test_variables_come_from_the_given_environment(folder: Path) -> None:
    (folder / "task.toml").write_text('[environment.env]\nA = "${SHADE}"\n')
    assert read_task(folder, host={"SHADE": "blue"}).config.env == {"A": "blue"}
    with pytest.raises(RefusedError, match=r"task\.toml:2"):
        read_task(folder, host={})


def test_text_that_is_not_toml_or_utf8_is_refused(folder: Path) -> None:
    (folder / "task.toml").write_text("= nonsense")
    with pytest.raises(RefusedError, match="is not TOML"):
        read_task(folder)
    (folder / "task.toml").write_text(MINIMAL)
    (folder / "instruction.md").write_bytes(b"\xff")
    with pytest.raises(RefusedError, match="not UTF-8"):
        read_task(folder)


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="name an existing folder"):
        read_task(tmp_path / "nothing")
