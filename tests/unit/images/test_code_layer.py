from pathlib import Path

import pytest

from stanchion.images import code_layer
from stanchion.images.errors import ImagesError

PACKAGE = ["stanchion.images"]


def test_the_layer_holds_the_three_packages_and_the_entry_file() -> None:
    inside = [path for path, _ in code_layer.files()]

    assert "start.py" in inside
    for package in ("protocol", "harness_adapters", "supervisor"):
        assert f"stanchion/{package}/__init__.py" in inside
    assert not any(path.startswith("stanchion/broker") for path in inside)
    assert not any("__pycache__" in path for path in inside)
    # A namespace package must stay one inside the bundle, too.
    assert "stanchion/__init__.py" not in inside


def test_locating_a_package_does_not_import_it(tmp_path: Path) -> None:
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud/__init__.py").write_text("raise RuntimeError('imported')")

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        assert code_layer.locate("loud") == tmp_path / "loud"


def test_a_package_that_is_not_installed_is_named_with_the_remedy() -> None:
    with pytest.raises(ImagesError, match="stanchion_absent is not installed") as refused:
        code_layer.locate("stanchion_absent")

    assert refused.value.fix is not None


def test_the_digest_follows_the_code(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample/__init__.py").write_text("")
    module = tmp_path / "sample/module.py"
    module.write_text("a = 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        before = code_layer.digest(["sample"])
        (tmp_path / "sample/__pycache__").mkdir()
        (tmp_path / "sample/__pycache__/module.pyc").touch()
        assert code_layer.digest(["sample"]) == before
        module.write_text("a = 2\n")
        assert code_layer.digest(["sample"]) != before


def test_a_copy_is_complete_and_plain(tmp_path: Path) -> None:
    code_layer.copy(tmp_path / "app", code_layer.digest(PACKAGE), PACKAGE)

    for inside, source in code_layer.files(PACKAGE):
        copied = tmp_path / "app" / inside
        assert copied.read_bytes() == source.read_bytes()
        assert copied.stat().st_mode & 0o777 == 0o644


def test_code_that_is_edited_while_it_is_copied_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImagesError, match="changed while it was copied"):
        code_layer.copy(tmp_path / "app", "another digest", PACKAGE)
