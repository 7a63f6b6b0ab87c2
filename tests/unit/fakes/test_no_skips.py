"""A skip of any kind fails where everything is required, and nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.no_skips import REQUIRE_ALL

TESTS = Path(__file__).parents[2]
SKIPS = {
    "in the test": "def test_it(): pytest.skip('no tool')",
    "by its mark": "@pytest.mark.skipif(True, reason='no tool')\ndef test_it(): pass",
    "in its fixture": (
        "@pytest.fixture\ndef tool(): pytest.skip('no tool')\ndef test_it(tool): pass"
    ),
    "of the module": "pytest.skip('no tool', allow_module_level=True)",
}
EXPECTED = "@pytest.mark.xfail(strict=True)\ndef test_it(): raise AssertionError"


def run(folder: Path, code: str, *, require_all: bool) -> tuple[int, str]:
    """Exit code and output of pytest on one file."""
    (folder / "test_one.py").write_text(f"import pytest\n{code}\n")
    environment = {**os.environ, "PYTHONPATH": str(TESTS), REQUIRE_ALL: "1" if require_all else ""}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "fakes.no_skips"]
    command += ["-p", "no:cacheprovider", "--rootdir", str(folder), "-c", os.devnull]
    done = subprocess.run(
        [*command, "test_one.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("how", SKIPS)
def test_a_skip_fails_where_everything_is_required(how: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, SKIPS[how], require_all=True)
    assert code in {1, 2}
    assert "nothing may be skipped" in output
    assert "no tool" in output


def test_a_skip_stays_a_skip_elsewhere(tmp_path: Path) -> None:
    code, output = run(tmp_path, SKIPS["in the test"], require_all=False)
    assert (code, "1 skipped" in output) == (0, True)


def test_a_failure_that_is_expected_is_no_skip(tmp_path: Path) -> None:
    assert run(tmp_path, EXPECTED, require_all=True)[0] == 0
