"""The keeper as a process: signals in, report lines out, nothing escapes as a traceback.

SIGTERM cancels the attempt; a terminal's SIGINT and SIGHUP never reach it. A reader that has gone
away is no reason to stop.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from stanchion.protocol.codec import encode_line
from stanchion.runner.keeper.order import Failed, Order, Report
from stanchion.runner.keeper.progress_file import ProgressFile
from stanchion.runner.keeper.story import keep

STDOUT_FD = 1
STDERR_FD = 2
LOG = "keeper.log"
log = logging.getLogger(__name__)


def tell(report: Report) -> None:
    """One report line, to whoever still listens."""
    with suppress(OSError):
        os.write(STDOUT_FD, encode_line(report))


def run(order: Order) -> int:
    """Keep the attempt; returns the process's exit code."""
    _log_to(Path(order.result_folder) / LOG)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    progress = ProgressFile(Path(order.result_folder))

    def report(what: Report) -> None:
        progress.reported(what)
        tell(what)

    try:
        asyncio.run(_keep(order, report, progress))
    except Exception as error:  # a keeper's last word must reach the command
        log.exception("the attempt could not be kept")
        reason = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
        report(Failed(why=f"{type(reason).__name__}: {reason}"))
        return 1
    return 0


def _log_to(path: Path) -> None:
    """From here on standard error is the log: the terminal may go away."""
    log_fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    os.dup2(log_fd, STDERR_FD)
    os.close(log_fd)


async def _keep(order: Order, report: Callable[[Report], None], progress: ProgressFile) -> None:
    cancelled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, cancelled.set)
    await keep(order, tell=report, cancelled=cancelled, watch=progress.take)
