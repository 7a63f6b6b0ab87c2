"""The users of an image, read from its root file system on the host; never through a link."""

import os
from pathlib import Path

MOST_BYTES = 1024 * 1024


def read_passwd(root: Path) -> str | None:
    """The image's /etc/passwd; None where it has none that is a plain file."""
    folder = root / "etc"
    if folder.is_symlink():
        return None
    try:
        descriptor = os.open(folder / "passwd", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MOST_BYTES).decode("utf-8", "replace")
