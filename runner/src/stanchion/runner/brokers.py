"""Finds the broker of a state folder, or starts one as a process of its own.

A running broker that was started from another configuration, or whose file has changed since, is
restarted if it has no open runs, and never behind anybody's back. Keys never come near this
process.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import Health
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import refuse
from stanchion.runner.config_file import ConfigFile

START_S = 30.0
STOP_S = 15.0
LAST_LINES = 5

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


async def _start(paths: StatePaths, config: ConfigFile | None) -> Health:
    paths.broker_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    log_file = paths.broker_dir / "broker.log"
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    written_before = os.fstat(log).st_size
    ready, ready_in_broker = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "stanchion.broker", "serve"),
            *("--state-dir", str(paths.root), "--ready-fd", str(ready_in_broker)),
            *(("--config", str(config.path)) if config else ()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(ready_in_broker,),
            start_new_session=True,
        )
    finally:
        os.close(log)
        os.close(ready_in_broker)
    try:
        is_ready = bool(await asyncio.wait_for(_first_line(ready), START_S))
    except TimeoutError:
        process.kill()
        is_ready = False
    if not is_ready:
        await process.wait()
    # Another command may have started one at the same moment; then that one answers.
    health = await _health(paths)
    if health is None:
        words = await asyncio.to_thread(_last_words, log_file, written_before)
        how = "ended before it was ready" if not is_ready else "does not answer"
        raise BrokerStartError(
            f"the broker {how}: {words or 'it said nothing'} (log: {log_file})",
            usage=process.returncode == ExitCode.USAGE,
        )
    return health


async def _first_line(descriptor: int) -> bytes:
    """One line from a pipe; empty where its other end was closed without one."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        return await reader.readline()
    finally:
        transport.close()


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
