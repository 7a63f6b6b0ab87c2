"""The package's face."""

import subprocess
import sys

import pytest

from stanchion.supervisor import isolation


def test_every_exported_name_is_there() -> None:
    assert {name for name in isolation.__all__ if getattr(isolation, name, None) is None} == set()
    assert callable(isolation.start)


def test_other_names_are_refused_like_any_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        isolation.nothing  # noqa: B018


def test_the_shim_pays_for_none_of_the_supervisors_libraries() -> None:
    """Each of these would delay every start by 30 to 150 ms in gVisor."""
    look = (
        "import sys; sys.path.append(sys.argv[1]);"
        "import stanchion.supervisor.isolation.shim;"
        "print(*sys.modules)"
    )
    root = str(isolation.__file__).rpartition("/stanchion/")[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", look, root],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    heavy = {"asyncio", "msgspec", "json", "re", "enum", "dataclasses", "typing", "pathlib",
             "collections", "psutil", "signal", "socket", "stanchion.protocol"}  # fmt: skip
    assert heavy & set(done.stdout.split()) == set()
