"""A task folder in Harbor's format: what this runner obeys of it, and what it refuses by name.

Decides nothing about an attempt. A field that would change what the task means and is not obeyed
is refused, never dropped. Format: Harbor's task documentation, schema_version 1.x.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.tasks.task_config import TaskConfig, read_config
from stanchion.runner.tasks.task_digest import folder_digest
from stanchion.runner.tasks.task_fields import IMAGE_REMEDY, REFUSED_FILES, STOOD_IN_FILES

_CANARY = re.compile(r"\s*(<!--.*canary.*-->|#.*canary.*)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Task:
    """A task that can be run."""

    folder: Path
    name: str
    sha256: str
    """Over everything in the folder but its rehearsal."""
    instruction: str
    config: TaskConfig

    @property
    def instruction_sha256(self) -> str:
        """Of the text that the agent is given."""
        return hashlib.sha256(self.instruction.encode()).hexdigest()

    @property
    def rehearsal_script(self) -> Path:
        """What the rehearsal provider answers; may be absent."""
        return self.folder / "rehearsal.toml"

    @property
    def solution(self) -> Path:
        """What the oracle runs; shown to no other harness."""
        return self.folder / "solution" / "solve.sh"

    @property
    def tests(self) -> Path:
        """Copied where the agent cannot see it."""
        return self.folder / "tests"

    @property
    def workdir_files(self) -> Path | None:
        """The files that the work folder starts with."""
        files = self.folder / "environment" / "workdir"
        return files if files.is_dir() else None


def read_task(
    folder: Path,
    *,
    image_given: bool = False,
    solving: bool = False,
    host: Mapping[str, str] | None = None,
) -> Task:
    """The task in the folder; RefusedError says which file or field keeps it from running.

    `image_given`: another file system stands in for the task's own; `solving`: for its solution;
    `host`: the environment that the task's variables may ask for, by default this process's.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise _refused(folder, "TASK", "is a folder with a task.toml", "name an existing folder")
    for name, why in REFUSED_FILES.items():
        if (folder / name).exists():
            raise _refused(folder / name, name, why, f"remove {name}, or run the task elsewhere")
    file = folder / "task.toml"
    config = read_config(
        _text(file),
        where=str(file),
        host=os.environ if host is None else host,
        image_given=image_given,
        solving=solving,
    )
    _check_stood_in(folder, config, image_given=image_given)
    if not (folder / "tests" / "test.sh").is_file():
        raise _refused(
            folder / "tests/test.sh",
            "tests/test.sh",
            "grades the task and is missing",
            "write it; it must leave /logs/verifier/reward.txt or reward.json",
        )
    return Task(
        folder=folder,
        name=folder.name,
        sha256=folder_digest(folder),
        instruction=strip_canary(_text(folder / "instruction.md")),
        config=config,
    )


def _check_stood_in(folder: Path, config: TaskConfig, *, image_given: bool) -> None:
    """A Dockerfile is not built; a base or an image must have been named in its place."""
    for name in STOOD_IN_FILES:
        if not (folder / name).exists():
            continue
        if not (image_given or config.base_named):
            rule = "images are not built from Dockerfiles"
            raise _refused(folder / name, name, rule, IMAGE_REMEDY)
        instead = "the given image" if image_given else f"the base {config.base}"
        config.notes["image.verified"] = f"{name} is not built; {instead} stands in for it"


def strip_canary(text: str) -> str:
    """The instruction without the leading comment lines that mark benchmark data."""
    lines = text.splitlines(keepends=True)
    start = 0
    while start < len(lines) and _CANARY.match(lines[start]):
        start += 1
    if start:
        while start < len(lines) and not lines[start].strip():
            start += 1
    return "".join(lines[start:])


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        rule = f"cannot be read ({error.strerror})"
        raise _refused(path, path.name, rule, "a task folder must have it") from error
    except UnicodeDecodeError as error:
        rule = f"is not UTF-8 at byte {error.start}"
        raise _refused(path, path.name, rule, "save it as UTF-8") from error


def _refused(path: Path, field: str, rule: str, remedy: str) -> RefusedError:
    return refuse("task_refused", field=field, value=path, rule=rule, remedy=remedy)
