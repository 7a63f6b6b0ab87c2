"""What names a task, and what does not."""

from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.task_digest import folder_digest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test.sh").write_text("true\n")
    (tmp_path / "task.toml").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "path", ["rehearsal.toml", "__pycache__/x.pyc", ".git/HEAD", "tests/.DS_Store"]
)
def test_what_no_agent_or_test_sees_does_not_count(folder: Path, path: str) -> None:
    before = folder_digest(folder)
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("x")

    assert folder_digest(folder) == before


def test_content_names_and_the_executable_bit_count(folder: Path) -> None:
    seen = {folder_digest(folder)}
    (folder / "tests" / "test.sh").write_text("false\n")
    seen.add(folder_digest(folder))
    (folder / "tests" / "test.sh").chmod(0o755)
    seen.add(folder_digest(folder))
    (folder / "tests" / "test.sh").rename(folder / "tests" / "other.sh")
    seen.add(folder_digest(folder))

    assert len(seen) == 4


def test_times_and_other_permissions_do_not_count(folder: Path) -> None:
    before = folder_digest(folder)
    (folder / "task.toml").chmod(0o600)
    (folder / "task.toml").touch()

    assert folder_digest(folder) == before


def test_a_link_inside_counts_by_its_target(folder: Path) -> None:
    before = folder_digest(folder)
    (folder / "link").symlink_to("tests/test.sh")
    inside = folder_digest(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("tests")

    assert len({before, inside, folder_digest(folder)}) == 3


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside"])
def test_a_link_that_leads_out_is_refused(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)

    with pytest.raises(RefusedError, match="must stay inside"):
        folder_digest(folder)
