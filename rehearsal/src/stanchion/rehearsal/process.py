"""The life of one rehearsal process: its key, its port, its ready line and its end.

It decides when the process ends and with which exit code: 0 when it was told to (SIGTERM, a
closed stdin), 130 on Ctrl-C, 1 when the witness log could not be written, because a witness that
silently forgets is worse than none. It binds loopback only and must never print the key.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from aiohttp import web

from stanchion.rehearsal.script import Script
from stanchion.rehearsal.server import RehearsalServer

LOOPBACK = "127.0.0.1"
KEY_LIMIT_BYTES = 4096
SHUTDOWN_S = 0.05
"""For handlers that stall by script; aiohttp waits this long twice, and for ever if it is 0."""
STDIN_FD = 0


class StartError(Exception):
    """Why the process cannot start; the message is the whole explanation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the command line decides."""

    script: Script
    port: int
    ready_fd: int | None
    log: Path | None
    key_stdin: bool
    die_with_stdin: bool
    repeatable: bool


def run(settings: Settings) -> int:
    """Serve until the end; returns the exit code. StartError if it could not start."""
    key = _read_key() if settings.key_stdin else None
    log_fd = _open_log(settings.log)
    listener = _listen(settings.port)
    try:
        return asyncio.run(_serve(settings, key, log_fd, listener))
    finally:
        listener.close()
        if log_fd is not None:
            os.close(log_fd)


async def _serve(
    settings: Settings, key: str | None, log_fd: int | None, listener: socket.socket
) -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    def witness(line: bytes) -> None:
        if log_fd is not None and (problem := _append(log_fd, line)):
            sys.stderr.write(
                f"error: {settings.log}: the witness log cannot be written ({problem}); "
                "give --log a file with space left\n"
            )
            end(1)

    server = RehearsalServer(
        script=settings.script, key=key, witness=witness, repeatable=settings.repeatable
    )
    runner = web.AppRunner(
        server.application(),
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        shutdown_timeout=SHUTDOWN_S,
    )
    await runner.setup()
    await web.SockSite(runner, listener).start()
    loop.add_signal_handler(signal.SIGTERM, end, 0)
    loop.add_signal_handler(signal.SIGINT, end, 130)
    if settings.die_with_stdin:
        _when_stdin_closes(lambda: loop.call_soon_threadsafe(end, 0))
    _announce(listener.getsockname()[1], settings.ready_fd)
    code = await ended
    server.stopping = True
    await runner.cleanup()
    return code


def _read_key() -> str:
    """One line, byte by byte: what follows it must stay in the pipe for the watch on its end."""
    line = bytearray()
    while len(line) <= KEY_LIMIT_BYTES:
        byte = os.read(STDIN_FD, 1)
        if byte in {b"", b"\n"}:
            break
        line += byte
    key = line.decode("ascii", errors="replace").rstrip("\r")
    if not key or len(key) > KEY_LIMIT_BYTES or not all("!" <= letter <= "~" for letter in key):
        raise StartError(
            f"--key-stdin: the first line of stdin is no key of 1 to {KEY_LIMIT_BYTES} printable "
            "ASCII characters without spaces; write the key and a newline"
        )
    return key


def _open_log(path: Path | None) -> int | None:
    if path is None:
        return None
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartError(
            f"--log: {path} cannot be opened ({error.strerror}); name a file in a writable folder"
        ) from error


def _append(log_fd: int, line: bytes) -> str | None:
    try:
        written = os.write(log_fd, line)
    except OSError as error:
        return error.strerror
    return None if written == len(line) else f"only {written} of {len(line)} bytes fitted"


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port), backlog=128)
    except OSError as error:
        raise StartError(
            f"--port: {port} on {LOOPBACK} cannot be bound ({error.strerror}); "
            "choose another, or 0 for any free one"
        ) from error


def _when_stdin_closes(call: Callable[[], object]) -> None:
    """A thread, since stdin may be a file or a device that no event loop can wait for."""

    def drain() -> None:
        while os.read(STDIN_FD, 4096):
            pass
        call()

    threading.Thread(target=drain, name="stdin-watch", daemon=True).start()


def _announce(port: int, ready_fd: int | None) -> None:
    line = msgspec.json.encode({"port": port, "pid": os.getpid()}) + b"\n"
    if ready_fd is not None:
        os.write(ready_fd, line)
        os.close(ready_fd)
    sys.stdout.buffer.write(line)
    sys.stdout.flush()
