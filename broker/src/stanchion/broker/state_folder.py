"""Whether a state folder can be worked in, before anything is opened there.

Each thing that is wrong with it is refused in one sentence; nothing in it is ever removed but the
socket of a broker that is gone.
"""

import os
import socket
import tempfile
from pathlib import Path

from stanchion.broker.attempts.listeners import MAX_SOCKET_PATH_BYTES, bind_private
from stanchion.broker.client.paths import StatePaths
from stanchion.protocol.refusal import refuse


def prepare(paths: StatePaths) -> None:
    """Make the broker's folder; RefusedError where nothing can be written or bound there."""
    length = len(os.fsencode(paths.admin_socket))
    if length > MAX_SOCKET_PATH_BYTES:
        raise refuse(
            "socket_path_long",
            field="--state-dir",
            value=paths.root,
            rule=f"the path of the admin socket in it has at most {MAX_SOCKET_PATH_BYTES} bytes, "
            f"not {length}",
            remedy="Name a shorter folder with --state-dir",
        )
    try:
        paths.broker_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=paths.broker_dir):
            pass
    except OSError as error:
        raise refuse(
            "state_unwritable",
            field="--state-dir",
            value=paths.root,
            rule=f"the broker can write to it ({error.strerror})",
            remedy="Name another folder with --state-dir, or let this user write to this one",
        ) from None


def bind_admin(path: Path) -> socket.socket:
    """The admin socket; whoever holds the folder's lock may take the place of an older one."""
    try:
        path.unlink(missing_ok=True)
        return bind_private(path)
    except OSError as error:
        raise refuse(
            "admin_socket_taken",
            field="admin socket",
            value=path,
            rule=f"a socket can be made there ({error.strerror})",
            remedy="Remove what is there, or name another folder with --state-dir",
        ) from None
