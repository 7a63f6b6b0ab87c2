"""What is published: the wheel built from the source distribution, installed beside others."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PARTS = ("protocol", "harness_adapters", "supervisor", "broker", "images", "runner", "rehearsal")

pytestmark = pytest.mark.timeout(240)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`python -m build` makes the wheel from the sdist, as a publisher does."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_every_portion_and_no_namespace_init(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in PARTS:
        assert f"stanchion/{part}/__init__.py" in names
        assert f"stanchion/{part}/py.typed" in names
    assert "stanchion/__init__.py" not in names


def test_the_wheel_holds_all_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for part in PARTS:
        source = ROOT / part / "src"
        files = {
            str(path.relative_to(source))
            for path in source.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert files <= names
    assert "stanchion/runner/examples/tasks/hello/task.toml" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def clean_environment(folder: Path, wheel: Path) -> tuple[Path, Path]:
    """A virtual environment with only the wheel's files; its python and its site-packages."""
    venv.create(folder, with_pip=False, system_site_packages=False)
    (site,) = folder.glob("lib/python3.*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    return folder / "bin" / "python", site


def install_supervisor(site: Path) -> None:
    """PyPI's `supervisor`, whose top-level name is that of one of our folders."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--no-deps", "--target", str(site), "supervisor==4.3.0"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"supervisor cannot be fetched here: {done.stderr.strip()[-200:]}")


@pytest.mark.network
def test_it_lives_beside_the_supervisor_of_the_package_index(wheel: Path, tmp_path: Path) -> None:
    """Neither hides the other, also when started from the root of this repository."""
    python, site = clean_environment(tmp_path / "venv", wheel)
    install_supervisor(site)
    code = (
        "import supervisor.options as theirs, stanchion.protocol.ids as ours;"
        "print(theirs.VERSION, ours.__name__)"
    )
    assert run(python, "-I", "-c", code, cwd=ROOT).split() == ["4.3.0", "stanchion.protocol.ids"]
    (site / "stanchion" / "supervisor").rename(tmp_path / "gone")
    assert run(python, "-I", "-c", "import supervisor.options", cwd=ROOT) == ""
