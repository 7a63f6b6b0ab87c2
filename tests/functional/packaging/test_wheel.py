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


def test_it_lives_beside_another_package_named_like_one_of_its_parts(
    wheel: Path, tmp_path: Path
) -> None:
    """PyPI's `supervisor` owns the top-level name; ours must neither hide nor be hidden by it."""
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=False, system_site_packages=False)
    (site,) = environment.glob("lib/python3.*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    other = site / "supervisor"
    other.mkdir()
    (other / "__init__.py").write_text("WHO = 'another project'\n")
    code = "import supervisor, stanchion.protocol.ids as i; print(supervisor.WHO, i.__name__)"
    python = environment / "bin" / "python"
    assert (
        run(python, "-I", "-c", code, cwd=ROOT).split("\n")[0]
        == "another project stanchion.protocol.ids"
    )
