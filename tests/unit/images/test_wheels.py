import zipfile
from pathlib import Path

import pytest

from stanchion.images import wheels
from stanchion.images.errors import IntegrityError


def wheel(folder: Path, members: dict[str, int]) -> Path:
    path = folder / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in members.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, name)
    return path


def test_the_shipped_lock_pins_what_the_supervisor_imports() -> None:
    names = {pin.name for pin in wheels.pins(wheels.lock_text())}

    assert names == {"psutil", "msgspec", "h11"}


def test_every_pin_of_the_shipped_lock_carries_a_digest() -> None:
    lock = wheels.lock_text()

    for block in lock.split("==")[1:]:
        assert "--hash=sha256:" in block


def test_pins_ignore_comments_and_hashes() -> None:
    lock = "# a==9\nb==1.2 \\\n    --hash=sha256:c==d\ne-f==3\n"

    assert wheels.pins(lock) == [wheels.Pin("b", "1.2"), wheels.Pin("e-f", "3")]


def test_a_wheel_is_unpacked_without_its_scripts(tmp_path: Path) -> None:
    members = {"x/__init__.py": 0o644, "x/native.so": 0o755, "x-1.data/scripts/x": 0o755}

    wheels.unpack(wheel(tmp_path, members), tmp_path / "site")

    files = sorted(p for p in (tmp_path / "site").rglob("*") if p.is_file())
    assert [p.relative_to(tmp_path / "site").as_posix() for p in files] == [
        "x/__init__.py",
        "x/native.so",
    ]
    assert [p.stat().st_mode & 0o777 for p in files] == [0o644, 0o755]


@pytest.mark.parametrize("name", ["../outside", "/outside"])
def test_a_path_that_leaves_the_wheel_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(IntegrityError, match="leaves the wheel"):
        wheels.unpack(wheel(tmp_path, {name: 0o644}), tmp_path / "site")
