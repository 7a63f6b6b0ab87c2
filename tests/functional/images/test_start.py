import sys
from importlib import resources
from pathlib import Path
from subprocess import run

SUPERVISOR = """\
import sys

import dependency

def main():
    print(dependency.__file__)
    print(__file__)
    return 7
"""


def test_the_entry_file_adds_both_folders_and_hands_over(tmp_path: Path) -> None:
    application = tmp_path / "app"
    package = application / "stanchion/supervisor"
    site_packages = tmp_path / "lib/python3.11/site-packages"
    package.mkdir(parents=True)
    site_packages.mkdir(parents=True)
    (package / "__main__.py").write_text(SUPERVISOR)
    (site_packages / "dependency.py").write_text("")
    entry = resources.files("stanchion.images").joinpath("start.py").read_text("utf-8")
    (application / "start.py").write_text(entry)

    done = run(
        [sys.executable, "-I", "-S", application / "start.py"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd="/",
    )

    assert done.returncode == 7, done.stderr
    assert done.stdout.split() == [
        str(site_packages / "dependency.py"),
        str(package / "__main__.py"),
    ]
