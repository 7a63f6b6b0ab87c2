"""Where the example tasks are: inside the installed package, else beside the source tree."""

from pathlib import Path

PACKAGED = Path(__file__).parents[1] / "examples"
IN_TREE = Path(__file__).parents[5] / "examples"


def example_task(name: str) -> Path:
    """The folder of an example task; FileNotFoundError says where it was looked for."""
    for place in (PACKAGED, IN_TREE):
        folder = place / "tasks" / name
        if (folder / "task.toml").is_file():
            return folder
    raise FileNotFoundError(f"no example task {name} in {PACKAGED} or {IN_TREE}")
