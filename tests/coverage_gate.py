"""Fails where a core module's branch coverage is below its bar. Run after its unit tests.

Core modules are the ones that decide: the same list that the import contract keeps free of IO.
Their unit tests alone have to cover them; what others happen to pass through does not count.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BAR_PERCENT = 90.0


def core_files() -> list[str]:
    """Paths of all source files of the modules named in the `core` import contract."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = (
        entry for entry in config["tool"]["importlinter"]["contracts"] if entry["id"] == "core"
    )
    files: list[str] = []
    for module in contract["source_modules"]:
        part = module.split(".")[1]
        place = ROOT / part / "src" / Path(*module.split("."))
        found = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        files += [str(path.relative_to(ROOT)) for path in found]
    return files


def measured() -> dict[str, dict[str, float]]:
    """Coverage of each file, from the data that pytest left."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        subprocess.run(
            [sys.executable, "-m", "coverage", "json", "-q", "-o", str(report)],
            cwd=ROOT,
            check=True,
        )
        files = json.loads(report.read_text())["files"]
    return {path: entry["summary"] for path, entry in files.items()}


def main() -> int:
    """Print the modules below the bar and the plain closing line."""
    seen = measured()
    low = []
    for path in core_files():
        if not (ROOT / path).read_text().strip():
            continue
        percent = seen.get(path, {}).get("percent_covered", 0.0)
        if percent < BAR_PERCENT:
            low.append(path)
            sys.stdout.write(f"{percent:5.1f} %  {path}\n")
    total = len(core_files())
    sys.stdout.write(
        f"coverage: {total} core files, {total - len(low)} at {BAR_PERCENT:.0f} % or more\n"
    )
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
