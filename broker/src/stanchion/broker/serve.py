"""The life of the broker process: locks, keys, listeners, the ready line, and a clean end.

It tells nobody that it is ready before the admin socket listens, and it ends on SIGTERM, on Ctrl-C
or on the admin API's word with every receipt durable. No core dump ever holds a key.
"""

import asyncio
import contextlib
import ctypes
import gc
import json
import logging
import os
import resource
import signal
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.accounts import Accounts
from stanchion.broker.admin.listening import AdminSite
from stanchion.broker.admin.metrics import Metrics
from stanchion.broker.admin.routes import Admin
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.client.paths import StatePaths
from stanchion.broker.config import Config, built_in, read_config
from stanchion.broker.housekeeping import Housekeeping
from stanchion.broker.idle import Idle
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.state_folder import bind_admin, prepare
from stanchion.broker.tasks import Tasks
from stanchion.protocol.admin import ErrorReply
from stanchion.protocol.codec import encode_line
from stanchion.protocol.refusal import Refusal, refuse

PR_SET_DUMPABLE = 4
"""prctl(2)."""

_log = logging.getLogger("stanchion.broker")

OBJECTS_BEFORE_GC = 10_000
"""A request makes some hundreds and leaves next to none: looking for cycles more often than every
few dozen requests finds nothing, and is paid for by each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the command line decides."""

    paths: StatePaths
    runtime_dir: Path
    config_path: Path | None
    ready_fd: int | None
    idle_exit_s: float | None
    """End once nobody has needed it for so long; None = stay."""
    environ: MutableMapping[str, str]


def run(settings: Settings) -> None:
    """Serve until the end. RefusedError, LedgerError or KeyFileError: it did not start."""
    os.umask(0o077)
    keep_memory_private()
    allow_many_connections()
    config = _load_config(settings.config_path)
    prepare(settings.paths)
    _log_to(settings.paths.broker_dir / "broker.log")
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, config))


def keep_memory_private() -> None:
    """No core file, and no other process of this user reads our memory or environment."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def allow_many_connections() -> None:
    """As many descriptors as the kernel allows this process: a request under way has two."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _serve(settings: Settings, config: Config) -> None:
    ledger = await Ledger.open(settings.paths.root, host_boot=host_boot())
    try:
        # Before the group: what is refused here must reach the command as it is.
        accounts = _accounts(settings, config, ledger)
        admin_socket = bind_admin(settings.paths.admin_socket)
        async with asyncio.TaskGroup() as group:
            runs = Runs(
                config=config,
                accounts=accounts,
                ledger=ledger,
                tasks=(tasks := Tasks(group)),
                runtime_dir=settings.runtime_dir,
            )
            await runs.restore()
            tasks.start(
                Housekeeping(attempts=runs, events=ledger.events, settings=config.broker).keep()
            )
            await _until_ended(settings, config, ledger, runs, admin_socket, tasks)
            tasks.cancel()
            accounts.close()
    finally:
        await ledger.aclose()
        for name in ("broker.pid", "admin.sock"):
            (settings.paths.broker_dir / name).unlink(missing_ok=True)


def _accounts(settings: Settings, config: Config, ledger: Ledger) -> Accounts:
    folder = Path() if settings.config_path is None else settings.config_path.parent
    return Accounts(config, folder=folder, environ=settings.environ, fingerprint=ledger.fingerprint)


async def _until_ended(
    settings: Settings,
    config: Config,
    ledger: Ledger,
    runs: Runs,
    admin_socket: socket.socket,
    tasks: Tasks,
) -> None:
    ended = asyncio.Event()
    idle = Idle(
        after_s=settings.idle_exit_s,
        busy=lambda: runs.open_count > 0,
        clock_s=asyncio.get_running_loop().time,
    )
    admin = Admin(
        runs=runs,
        ledger=ledger,
        config=config,
        config_path=settings.config_path,
        metrics=Metrics(runs, ledger),
        stop=ended.set,
        needed=idle.needed,
    )
    site = await AdminSite.start(admin.application(), admin_socket)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    _announce(settings)
    tasks.start(idle.watch(ended.set))
    await ended.wait()
    _log.info("ending: %d open attempts", runs.open_count)
    await runs.stop()
    await site.close()


def tell_why(ready_fd: int | None, refusal: Refusal) -> None:
    """In place of the ready line: why there will be none."""
    if ready_fd is not None:
        os.write(ready_fd, encode_line(ErrorReply(error=refusal)))


def _announce(settings: Settings) -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_GC)
    pid = os.getpid()
    (settings.paths.broker_dir / "broker.pid").write_text(f"{pid}\n", encoding="ascii")
    _log.info("listening, pid %d", pid)
    if settings.ready_fd is not None:
        os.write(settings.ready_fd, json.dumps({"pid": pid}).encode() + b"\n")
        os.close(settings.ready_fd)


def host_boot() -> str | None:
    """Names the time since this machine was started; None = it does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def _load_config(path: Path | None) -> Config:
    if path is None:
        return built_in()
    try:
        return read_config(path.read_bytes())
    except OSError as error:
        raise refuse(
            "config_unreadable",
            field="--config",
            value=path,
            rule=f"the file can be read ({error.strerror})",
            remedy="Name an existing stanchion.toml, or leave it out",
        ) from None


def _log_to(file: Path) -> None:
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
    for name in ("asyncio", "aiohttp"):
        # Their records may quote a request; what matters of them is logged by `tasks`.
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    with contextlib.suppress(ImportError):
        import uvloop

        return uvloop.Loop
    return None
