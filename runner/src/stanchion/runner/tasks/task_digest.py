"""The digest that names a task: over the content of its folder, the same on every machine.

Times, owners and permissions other than "executable" do not count, nor do caches that tools leave
behind, nor the rehearsal script, which no agent or verifier ever sees.
"""

import hashlib
import os
from pathlib import Path

from stanchion.protocol.refusal import refuse

LEFT_OUT_FOLDERS = frozenset({".git", "__pycache__", ".pytest_cache"})
LEFT_OUT_FILES = frozenset({"rehearsal.toml", ".DS_Store"})


def folder_digest(folder: Path) -> str:
    """SHA-256 over one line a file, sorted by path."""
    lines = sorted(_line(path, folder) for path in _files(folder))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        folders[:] = [name for name in folders if name not in LEFT_OUT_FOLDERS | set(links)]
        found += [Path(root) / name for name in (*names, *links) if name not in LEFT_OUT_FILES]
    return found


def _line(path: Path, folder: Path) -> str:
    shown = path.relative_to(folder).as_posix()
    if path.is_symlink():
        target = path.readlink()
        if target.is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
            raise refuse(
                "task_refused",
                field=shown,
                value=target,
                rule="a link in a task must stay inside its folder",
                remedy="replace the link by the file itself",
            )
        return f"{shown}\0link\0{target.as_posix()}\n"
    if not path.is_file():
        raise refuse(
            "task_refused",
            field=shown,
            value=None,
            rule="a task holds only files, folders and links",
            remedy="remove it",
        )
    mode = "755" if path.stat().st_mode & 0o111 else "644"
    return f"{shown}\0{mode}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
