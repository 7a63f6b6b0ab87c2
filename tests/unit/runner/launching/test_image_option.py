from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.image_option import check_no_image, read_image

HEX = "ab" * 32


def test_a_folder_may_be_pinned_or_not(tmp_path: Path) -> None:
    found = read_image(str(tmp_path))
    assert (found.folder, found.sha256) == (tmp_path, None)
    found = read_image(f"{tmp_path}@sha256:{HEX}")
    assert (found.folder, found.sha256) == (tmp_path, HEX)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("debian", "a tag may mean other content tomorrow"),
        ("debian:12", "a tag may mean other content tomorrow"),
        ("ghcr.io/acme/tools:latest", "a tag may mean other content tomorrow"),
        (f"debian@sha256:{HEX}", "not pulled from registries"),
        ("./nothing", "does not exist"),
        ("/nowhere/at/all", "does not exist"),
    ],
)
def test_whatever_else_is_named_is_refused_with_the_way_to_unpack_it(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError) as refused:
        read_image(text)
    assert refused.value.refusal.id == "image_unusable"
    assert words in refused.value.refusal.rule
    assert "docker export" in refused.value.refusal.remedy


def test_a_file_is_no_root_file_system(tmp_path: Path) -> None:
    (tmp_path / "image.tar").touch()
    with pytest.raises(RefusedError, match="is a file"):
        read_image(str(tmp_path / "image.tar"))


def test_a_sandbox_without_an_image_takes_none() -> None:
    check_no_image(None)
    with pytest.raises(RefusedError, match="--sandbox runsc"):
        check_no_image("/image")
