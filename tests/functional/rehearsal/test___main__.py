import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from functional.rehearsal.player import TIMEOUT_S


def test_the_module_runs_as_the_command_it_stands_for() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stanchion.rehearsal", "--help"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: stanchion rehearse [OPTIONS]")


def test_the_part_imports_no_other_part() -> None:
    spec = find_spec("stanchion.rehearsal")
    assert spec
    assert spec.origin
    for source in Path(spec.origin).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                assert not name.startswith("stanchion") or name.startswith("stanchion.rehearsal")
