"""The attempt directory with its launch and two sockets: made fresh, private, removed at the end.

A path that exists already is never reused, and only what was made here is removed.
"""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.control_socket import serve_control
from stanchion.broker.plane.model_socket import ModelConnection
from stanchion.broker.tasks import Tasks
from stanchion.protocol.codec import encode
from stanchion.protocol.refusal import refuse

MAX_SOCKET_PATH_BYTES = 107
"""sizeof(sun_path) - 1 on Linux, see unix(7)."""
BACKLOG = 1024
"""Callers that wait to be accepted, more than an attempt may have at once: where this queue is
full, a connect that does not block is refused (EAGAIN, unix(7)), which asyncio takes for made."""
LAUNCH = "launch.json"
"""What the supervisor reads first; a launcher need not know what canonical bytes are."""


def bind_private(path: Path) -> socket.socket:
    """A listening-ready Unix socket that only its owner can reach."""
    if len(os.fsencode(path)) > MAX_SOCKET_PATH_BYTES:
        raise refuse(
            "socket_path_long",
            field="socket",
            value=path,
            rule=f"its path has at most {MAX_SOCKET_PATH_BYTES} bytes",
            remedy="Use a shorter state or runtime folder",
        )
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        server.bind(str(path))
        path.chmod(0o600)
    except OSError:
        server.close()
        raise
    return server


def make_directory(runtime_dir: Path) -> Path:
    """A fresh attempt directory below the runtime folder."""
    runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = runtime_dir.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise refuse(
            "runtime_dir_unsafe",
            field="runtime folder",
            value=runtime_dir,
            rule="it is a directory of this user that nobody else can write to",
            remedy=f"Remove {runtime_dir}, or chmod go-w it",
        )
    directory = runtime_dir / os.urandom(4).hex()
    directory.mkdir(mode=0o700)
    return directory


@dataclass(slots=True)
class Listeners:
    """The sockets of one open attempt."""

    directory: Path
    _servers: list[asyncio.AbstractServer] = field(default_factory=list)

    async def open(self, attempt: Attempt, tasks: Tasks) -> None:
        """Leave the frozen launch there, in the bytes that have its digest, and listen on both."""
        (self.directory / LAUNCH).write_bytes(encode(attempt.terms.launch))
        await self._listen(attempt, tasks)

    def stands(self) -> bool:
        """Whether the directory is still there, and still ours."""
        try:
            found = self.directory.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()

    async def reopen(self, attempt: Attempt, tasks: Tasks) -> None:
        """Listen again where a former broker did; the sockets it left answer nobody."""
        self._remove_sockets()
        await self._listen(attempt, tasks)

    async def _listen(self, attempt: Attempt, tasks: Tasks) -> None:
        loop = asyncio.get_running_loop()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.start(serve_control(attempt, reader, writer))

        model = bind_private(self.directory / "model.sock")
        factory = _model_factory(attempt, loop)
        await self._serve(
            loop.create_unix_server(factory, sock=model, backlog=BACKLOG, start_serving=False)
        )
        control = bind_private(self.directory / "control.sock")
        await self._serve(
            asyncio.start_unix_server(accept, sock=control, backlog=BACKLOG, start_serving=False)
        )

    async def _serve(self, made: Coroutine[None, None, asyncio.Server]) -> None:
        """It is known before it listens, so that it is closed whatever cuts this short."""
        server = await made
        self._servers.append(server)
        await server.start_serving()

    def close(self) -> None:
        """Stop listening; the sockets' files go."""
        for server in self._servers:
            server.close()
        self._remove_sockets()

    def _remove_sockets(self) -> None:
        for name in ("model.sock", "control.sock"):
            with contextlib.suppress(OSError):
                (self.directory / name).unlink()

    def remove_directory(self) -> None:
        """For an attempt that never came to be."""
        self.close()
        (self.directory / LAUNCH).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.directory.rmdir()


def _model_factory(
    attempt: Attempt, loop: asyncio.AbstractEventLoop
) -> Callable[[], ModelConnection]:
    return lambda: ModelConnection(attempt, loop)
