"""A user's program becomes a package that is named by its content."""

import json
from pathlib import Path

import pytest

from stanchion.images import own_program
from stanchion.images.errors import ImagesError, IntegrityError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program/lib").mkdir(parents=True)
    (tmp_path / "program/run").write_text("#!/bin/sh\n")
    (tmp_path / "program/run").chmod(0o700)
    (tmp_path / "program/lib/data").write_text("1")
    (tmp_path / "program/lib/data").chmod(0o600)
    return tmp_path / "program"


def test_the_copy_is_readable_by_every_agent_and_found_again_by_its_digest(
    tmp_path: Path, folder: Path
) -> None:
    cache = tmp_path / "cache"
    made = own_program.ensure_program(cache, "tiny-1", folder)
    run, data = made.path / "program/run", made.path / "program/lib/data"
    assert (run.stat().st_mode & 0o777, data.stat().st_mode & 0o777) == (0o755, 0o644)
    manifest = json.loads((made.path / "manifest.json").read_bytes())
    assert sorted(manifest["files"]) == ["program/lib/data", "program/run"]
    assert (manifest["name"], manifest["version"]) == ("command", "tiny-1")
    again = own_program.ensure_program(cache, "tiny-1", folder)
    assert (again.digest, again.cached) == (made.digest, True)
    assert own_program.stored_program(cache, "tiny-1", made.digest).path == made.path


def test_other_content_is_another_package_and_the_first_one_stays(
    tmp_path: Path, folder: Path
) -> None:
    cache = tmp_path / "cache"
    first = own_program.ensure_program(cache, "tiny-1", folder)
    (folder / "run").write_text("#!/bin/sh\nexit 1\n")
    second = own_program.ensure_program(cache, "tiny-1", folder)
    assert second.digest != first.digest
    assert (first.path / "program/run").read_text() == "#!/bin/sh\n"


def test_a_program_of_the_images_has_an_empty_package(tmp_path: Path) -> None:
    made = own_program.ensure_program(tmp_path, "tiny-1", None)
    assert [path.name for path in made.path.iterdir()] == ["manifest.json"]
    with pytest.raises(ImagesError, match="no longer stored"):
        own_program.stored_program(tmp_path, "tiny-1", "0" * 64)


def test_a_link_in_the_folder_is_refused_by_name(tmp_path: Path, folder: Path) -> None:
    (folder / "lib/key").symlink_to("/etc/passwd")
    with pytest.raises(IntegrityError, match="lib/key, a link"):
        own_program.ensure_program(tmp_path / "cache", "tiny-1", folder)
