"""The shape of the repository: one namespace, small files, no leftovers."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("protocol", "harness_adapters", "supervisor", "broker", "images", "runner", "rehearsal")


def tracked(*patterns: str) -> list[Path]:
    """Files of the repository, whether committed or about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: the file list comes from git")
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=20,
    )
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def sources() -> list[Path]:
    return [path for path in tracked("*.py") if "src" in path.relative_to(ROOT).parts]


def decides_something(path: Path) -> bool:
    """Whether the file has any function: pure message types are tested by their golden files."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, functions) for node in ast.walk(ast.parse(path.read_text())))


def test_no_portion_hides_the_others() -> None:
    strays = [path for path in sources() if path.match("*/src/stanchion/__init__.py")]
    assert strays == []


def test_every_part_is_one_typed_portion() -> None:
    for part in PARTS:
        portion = ROOT / part / "src" / "stanchion" / part
        assert (portion / "__init__.py").is_file()
        assert (portion / "py.typed").is_file()
        assert [child.name for child in (ROOT / part / "src" / "stanchion").iterdir()] == [part]


def test_files_are_small() -> None:
    lengths = sorted(len(path.read_text().splitlines()) for path in sources())
    lengths = [length for length in lengths if length > 0]
    assert lengths[len(lengths) // 2] <= 150
    long = [path for path in tracked("*.py") if len(path.read_text().splitlines()) > 400]
    assert long == []


def test_every_source_file_has_its_test() -> None:
    tests = {path.name for path in tracked("tests/**/test_*.py")}
    exempt = {"__init__.py", "__main__.py"}  # the first hold names, the second arguments only
    lonely = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.name not in exempt
        and decides_something(path)
        and not any(
            name == f"test_{path.stem}.py" or name.endswith(f"_{path.stem}.py") for name in tests
        )
    ]
    assert lonely == []


def test_nothing_is_left_unfinished() -> None:
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    marked = [
        str(path.relative_to(ROOT))
        for path in tracked("*.py", "*.md", "*.toml", "Makefile")
        if mark.search(path.read_text())
    ]
    assert marked == []


def test_the_repository_names_no_machine_and_no_registry_host() -> None:
    home = re.compile(r"/(?:home/(?!agent\b)[a-z]+|root/\.|work/(?:main|shared|notes|venv))")
    host = re.compile(r"https?://(?:[a-z0-9-]+\.)*(?:pypi|pythonhosted|npmjs|debian)\.org")
    named = [
        str(path.relative_to(ROOT))
        for path in tracked("*.py", "*.md", "*.toml", "*.lock", "*.json", "Makefile", ".ci/run")
        if home.search(text := path.read_text()) or host.search(text)
    ]
    assert named == []
