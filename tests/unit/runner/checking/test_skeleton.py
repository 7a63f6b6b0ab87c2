import ast
import tomllib
from pathlib import Path

import pytest

from stanchion.runner.checking.skeleton import NAME, files
from stanchion.runner.tasks.task import read_task


def test_the_new_task_can_be_read_and_says_all_there_is_to_say(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for file in files("mine"):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    task = read_task(folder)
    assert task.config.notes == {}
    assert task.config.answers == ("/work/answer.txt",)
    assert task.solution.is_file()
    assert task.rehearsal_script.is_file()
    assert task.workdir_files is not None


def test_each_commented_field_of_it_is_one_that_is_known(tmp_path: Path) -> None:
    (text,) = (file.text for file in files("mine") if file.path == "task.toml")
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    artifacts = [line for line in lines if line.startswith("artifacts")]
    others = [line for line in lines if line not in artifacts]
    whole = "\n".join([*artifacts, *others])
    tomllib.loads(whole)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test.sh").touch()
    (tmp_path / "instruction.md").touch()
    (tmp_path / "task.toml").write_text(whole)
    config = read_task(tmp_path).config
    assert (config.memory_mb, config.cpu_milli) == (4096, 2000)
    assert config.artifacts
    assert config.agent_user is not None


def test_scripts_can_be_executed_and_programs_parsed() -> None:
    for file in files("mine"):
        assert file.executable is file.path.endswith(".sh")
        if file.path.endswith(".py"):
            ast.parse(file.text)


@pytest.mark.parametrize(
    ("name", "fits"),
    [("a", True), ("My-task_2.x", True), ("", False), ("../a", False), (".a", False),
     ("a/b", False), ("a" * 65, False), ("ä", False)],
)  # fmt: skip
def test_only_plain_names_fit(name: str, fits: bool) -> None:
    assert (NAME.fullmatch(name) is not None) is fits
