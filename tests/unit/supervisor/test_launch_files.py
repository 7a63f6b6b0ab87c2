from pathlib import Path

import pytest

from fakes.attempt import INSTRUCTION, lay_out
from stanchion.protocol.codec import digest
from stanchion.supervisor.launch_files import (
    PackageSeen,
    UnreadableLaunchError,
    load,
    look_at_package,
)


def test_a_launch_is_read_with_its_digest(tmp_path: Path) -> None:
    launch = load(lay_out(tmp_path).paths)
    assert launch.sha256 == digest(launch.frozen)
    assert (launch.token, launch.instruction) == ("st1_enrol", INSTRUCTION)
    assert launch.instruction_sha256 == launch.frozen.spec.task.instruction_sha256


def test_a_launch_never_shows_its_token(tmp_path: Path) -> None:
    assert "st1_enrol" not in repr(load(lay_out(tmp_path).paths))


@pytest.mark.parametrize("name", ["launch.json", "enrol.token", "instruction.md"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    paths = lay_out(tmp_path).paths
    (paths.run_dir / name).unlink()
    with pytest.raises(UnreadableLaunchError, match=name):
        load(paths)


def test_bytes_that_are_not_the_hashed_ones_are_refused(tmp_path: Path) -> None:
    paths = lay_out(tmp_path).paths
    paths.launch_file.write_bytes(paths.launch_file.read_bytes().replace(b":", b": ", 1))
    with pytest.raises(UnreadableLaunchError, match="canonical"):
        load(paths)


def test_garbage_is_one_sentence(tmp_path: Path) -> None:
    paths = lay_out(tmp_path).paths
    paths.launch_file.write_bytes(b"{")
    with pytest.raises(UnreadableLaunchError, match="not a FrozenLaunch"):
        load(paths)


def test_a_package_is_looked_at_without_running_it(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    spec = load(attempt.paths).frozen.spec
    package = attempt.paths.package(spec.harness)
    seen = look_at_package(package)
    assert (seen.manifest_sha256, seen.name, seen.version, seen.wrong_sizes) == (
        spec.harness.sha256,
        "scripted",
        "1.0",
        (),
    )
    (package / "program").write_text("longer")
    assert look_at_package(package).wrong_sizes == ("program",)
    (package / "program").unlink()
    assert look_at_package(package).wrong_sizes == ("program",)


def test_a_package_without_a_readable_manifest_is_seen_as_such(tmp_path: Path) -> None:
    assert look_at_package(tmp_path) == PackageSeen(manifest_sha256=None)
    (tmp_path / "manifest.json").write_text("[]")
    seen = look_at_package(tmp_path)
    assert seen.manifest_sha256 is not None
    assert seen.name is None
