"""Finds the broker of a state folder, or starts one as a process of its own.

A running broker that was started from another configuration, or whose file has changed since, is
restarted if it has no open runs, and never behind anybody's back. Keys never come near this
process.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.broker.client.config_file import ConfigFile
from stanchion.protocol.admin import ErrorReply, Health
from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.host.detached import EXTRA_FD, exit_code, reading, spawn_detached

START_S = 30.0
STOP_S = 15.0
OTHER_S, LOOK_S = 10.0, 0.1
LAST_LINES = 5
IDLE_EXIT_S = 900
"""A broker that was started by the way ends so long after anybody needed it."""
READY_LINE_BYTES = 16384

Say = Callable[[str], None]


class BrokerStartError(Exception):
    """The broker did not come up; the message holds its own last words."""

    def __init__(self, sentence: str, *, usage: bool) -> None:
        super().__init__(sentence)
        self.usage = usage
        """True where the broker refused its configuration."""


async def ensure_broker(paths: StatePaths, config: ConfigFile | None, say: Say) -> Health:
    """A live broker with this configuration."""
    health = await _health(paths)
    if health is not None and _matches(health, config):
        return health
    if health is not None:
        if health.open_runs:
            raise refuse(
                "broker_config_differs",
                field="--config",
                value=config.path if config else None,
                rule=f"the running broker (pid {health.pid}) was started from "
                f"{health.config_path or 'no file'}, as it was then, "
                f"and has {health.open_runs} open runs",
                remedy="wait for them, or use another --state-dir",
            )
        say(f"broker    pid {health.pid} has another configuration and no open runs: restarted")
        await _stop(health.pid)
    health = await _start(paths, config)
    source = config.path if config else "no configuration file, only the rehearsal profile"
    say(f"broker    pid {health.pid} started ({source})")
    return health


async def live_broker(paths: StatePaths) -> Health | None:
    """The broker of the state folder if it answers; starts nothing."""
    return await _health(paths)


def _matches(health: Health, config: ConfigFile | None) -> bool:
    if config is None:
        return True
    return (health.config_path, health.config_sha256) == (str(config.path), config.sha256)


async def _health(paths: StatePaths) -> Health | None:
    try:
        async with BrokerClient(paths.admin_socket) as broker:
            return await broker.health()
    except BrokerUnreachableError:
        return None


async def _other(paths: StatePaths) -> Health | None:
    """A broker that holds the state folder already, once it listens."""
    for _ in range(int(OTHER_S / LOOK_S)):
        if (health := await _health(paths)) is not None:
            return health
        await asyncio.sleep(LOOK_S)
    return None


async def _start(paths: StatePaths, config: ConfigFile | None) -> Health:
    paths.broker_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    log_file = paths.broker_dir / "broker.log"
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    written_before = os.fstat(log).st_size
    ready, its_ready = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    arguments = ["-m", "stanchion.broker", "serve", "--state-dir", str(paths.root)]
    arguments += ["--ready-fd", str(EXTRA_FD), "--idle-exit", str(IDLE_EXIT_S)]
    arguments += ["--config", str(config.path)] if config else []
    try:
        # The whole environment: a profile's credential may be one of its variables.
        pid = spawn_detached(
            arguments,
            environment=os.environ,
            stdin=nothing,
            stdout=log,
            stderr=log,
            extra=its_ready,
        )
    finally:
        for descriptor in (log, its_ready, nothing):
            os.close(descriptor)
    refused, code = None, None
    try:
        code = await _until_ready(pid, ready)
    except RefusedError as error:
        refused = error
    # Another command may have started one at the same moment; then that one answers.
    waits = refused is not None and refused.refusal.id == "broker_running"
    health = await (_other(paths) if waits else _health(paths))
    if health is None and refused is not None:
        raise refused
    if health is None:
        words = await asyncio.to_thread(_last_words, log_file, written_before)
        how = "does not answer" if code is None else f"ended with {code} before it was ready"
        raise BrokerStartError(
            f"the broker {how}: {words or 'it said nothing'} (log: {log_file})",
            usage=code == ExitCode.USAGE,
        )
    return health


async def _until_ready(pid: int, ready: int) -> int | None:
    """Its exit code where it ended instead of getting ready; RefusedError where it says why."""
    async with reading(ready, limit_bytes=READY_LINE_BYTES) as reader:
        try:
            if line := await asyncio.wait_for(reader.readline(), START_S):
                await _check_said(line, pid)
                return None
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
    return await exit_code(pid)


async def _check_said(line: bytes, pid: int) -> None:
    try:
        refusal = decode(line, ErrorReply).error
    except CodecError:
        return  # it is ready
    await exit_code(pid)
    raise RefusedError(refusal)


def _last_words(log_file: Path, start: int) -> str:
    with log_file.open("rb") as file:
        file.seek(start)
        lines = file.read()[-8192:].decode(errors="replace").strip().splitlines()
    return " / ".join(lines[-LAST_LINES:])


async def _stop(pid: int) -> None:
    """End a broker that has no open runs; it closes its books on SIGTERM."""
    try:
        process = psutil.Process(pid)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, STOP_S)
    except psutil.NoSuchProcess:
        return
    except psutil.Error as error:
        raise BrokerStartError(
            f"the running broker (pid {pid}) cannot be stopped: {error}", usage=False
        ) from error
