"""Which of the paths on a command line are tasks.

`tasks/*` also names the files that lie beside the tasks, such as a README; these are passed over
and said. A folder is never passed over: what is wrong with it is the user's to know.
"""

from collections.abc import Sequence
from pathlib import Path

from stanchion.protocol.refusal import refuse


def task_folders(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The folders, and the files between them; RefusedError where there is no folder."""
    folders = [path for path in paths if not path.is_file()]
    files = [path for path in paths if path.is_file()]
    if not folders:
        raise refuse(
            "task_refused",
            field="TASK",
            value=", ".join(str(path) for path in paths),
            rule="is a folder with a task.toml, not a file",
            remedy="name the folder, as stanchion task check tasks/NAME",
        )
    return folders, files
