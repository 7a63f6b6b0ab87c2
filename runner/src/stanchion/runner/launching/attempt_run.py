"""One attempt as a command sees it: order a keeper, watch the events, read the result.

The keeper owns the attempt; this only watches and passes a cancel on. Nothing here decides how an
attempt ended.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.images.bundle import COMMAND
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.codec import PROTOCOL_VERSION, decode
from stanchion.protocol.events import Event, RunClosed, Unknown, decode_event
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.keeper.notes import NOTES
from stanchion.runner.keeper.order import (
    BrokerAway,
    Ended,
    Failed,
    NotOpened,
    Opened,
    Order,
    Pieces,
    RehearsalOrder,
    Report,
)
from stanchion.runner.launching.broker_return import BrokerReturn
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.launching.pieces import ReadyPieces
from stanchion.runner.launching.start_file import StartFile, write_start
from stanchion.runner.tasks.task import Task

WATCH_WAIT_S = 10.0
LAST_EVENTS_S = 2.0
"""For the events that come at the very end to be shown."""

Watch = Callable[[Event | Unknown], None]


class AttemptError(Exception):
    """The attempt left no result; the message says why."""


@dataclass(slots=True)
class Launch:
    """One attempt to be made."""

    task: Task
    spec: LaunchSpec
    pieces: ReadyPieces
    paths: StatePaths
    result_folder: Path
    rehearsal_script: Path | None
    run: str = field(default_factory=lambda: secrets.token_hex(6))
    attempt: int = 1
    retry_of: int | None = None
    """Number of the attempt that this one repeats."""
    sandbox_id: str = field(default_factory=lambda: secrets.token_hex(16))
    rehearsal_key: str = field(
        default_factory=lambda: f"sk-rehearsal-{secrets.token_hex(24)}", repr=False
    )
    hidden: tuple[str, ...] = ()
    """Where keys and state lie on this host; never shown to a sandbox."""
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by whoever wants the attempt cancelled."""
    broker_back: BrokerReturn | None = None
    """Has a broker that went away started again; None = the attempt is then watched no longer."""

    def order(self) -> Order:
        """For the keeper."""
        pieces, script = self.pieces, self.rehearsal_script
        return Order(
            admin_socket=str(self.paths.admin_socket),
            open_run=OpenRun(
                protocol=PROTOCOL_VERSION,
                run=self.run,
                attempt=self.attempt,
                spec=self.spec,
                untouched_reward=self.task.config.untouched_reward,
            ),
            pieces=Pieces(
                runsc=None if pieces.runsc is None else str(pieces.runsc.path),
                rootfs=None if pieces.base is None else str(pieces.base.path),
                bundle=str(pieces.bundle.path),
                harness=str(pieces.harness.path),
                command=COMMAND,
                hidden=self.hidden,
            ),
            instruction=self.task.instruction,
            notes=dict(self.task.config.notes),
            task_folder=str(self.task.folder),
            result_folder=str(self.result_folder.absolute()),
            scratch_folder=str((self.paths.root / "sandboxes").absolute()),
            sandbox_id=self.sandbox_id,
            notes_folder=str((self.paths.root / NOTES).absolute()),
            rehearsal=(
                None
                if script is None
                else RehearsalOrder(script=str(script.absolute()), key=self.rehearsal_key)
            ),
        )


async def run_attempt(launch: Launch, watch: Watch, keeper: Keeper | None = None) -> AttemptResult:
    """To the end. RefusedError: the broker's policy; AttemptError: there is no result."""
    keeper = keeper or Keeper.spawn()
    write_start(
        launch.result_folder,
        StartFile.of(
            keeper.pid,
            task=launch.task.name,
            run=launch.run,
            attempt=launch.attempt,
            retry_of=launch.retry_of,
            sandbox_id=launch.sandbox_id,
        ),
    )
    await keeper.give(launch.order())
    last: Report | None = None
    async with asyncio.TaskGroup() as group:
        passing_on = group.create_task(_pass_on(launch.cancel, keeper))
        watchers: list[asyncio.Task[None]] = []
        async for report in keeper.reports():
            last = report
            if isinstance(report, Opened):
                watchers.append(group.create_task(_watch(launch, report.id, watch)))
        if watchers:
            await asyncio.wait(watchers, timeout=LAST_EVENTS_S)
        for task in (passing_on, *watchers):
            task.cancel()
    content = await asyncio.to_thread(_result_of(last).read_bytes)
    return decode(content, AttemptResult)


def _result_of(last: Report | None) -> Path:
    """Where the keeper's last word says that the result is; raises what it says instead."""
    match last:
        case Ended(result=path):
            return Path(path)
        case NotOpened(refusal=refusal):
            raise RefusedError(refusal)
        case BrokerAway(why=why):
            raise BrokerUnreachableError(why)
        case Failed(why=why):
            raise AttemptError(why)
        case _:
            raise AttemptError("the keeper ended without a result")


async def _pass_on(cancel: asyncio.Event, keeper: Keeper) -> None:
    await cancel.wait()
    keeper.cancel()


async def _watch(launch: Launch, attempt: str, watch: Watch) -> None:
    """Only for showing: whatever goes wrong here must not touch the attempt."""
    after: str | None = None
    closed = False
    async with BrokerClient(launch.paths.admin_socket) as broker:
        while True:
            try:
                page = await broker.events(attempt, after=after, wait_s=WATCH_WAIT_S)
            except RefusedError:
                return
            except BrokerUnreachableError:
                if launch.broker_back is None or not await launch.broker_back.wait():
                    return
                continue
            for entry in page.entries:
                event = decode_event(entry.event)
                watch(event)
                closed = isinstance(event, RunClosed)
            after = page.cursor
            if page.ended or closed:
                return
