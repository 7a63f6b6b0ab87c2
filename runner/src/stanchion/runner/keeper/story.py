"""One attempt, from the broker's yes to the written result; reads from top to bottom.

Every way out leaves a result or a report, no sandbox, no cgroup and no attempt directory.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.protocol.admin import HostReport, OpenRun, Rehearsal, RunOpenedReply, RunView
from stanchion.protocol.events import Stage, StageChanged, StageState, StreamEntry, decode_event
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.keeper import attempt_files, result_document
from stanchion.runner.keeper.box import SandboxBox
from stanchion.runner.keeper.follow import BrokerLostError, Follower
from stanchion.runner.keeper.held_time import HeldTime
from stanchion.runner.keeper.host_facts import Observed, sum_up
from stanchion.runner.keeper.notes import NoteFile
from stanchion.runner.keeper.order import BrokerAway, Ended, NotOpened, Opened, Order, Report
from stanchion.runner.keeper.recorder import Recorder
from stanchion.runner.launching.rehearsals import rehearsing
from stanchion.runner.results.job_folder import write_json
from stanchion.runner.trajectory.files import write_trajectory

CLOSING_S = 30.0
log = logging.getLogger(__name__)


def _nobody(_: StreamEntry) -> None:
    """Watches nothing."""


async def keep(
    order: Order,
    *,
    tell: Callable[[Report], None],
    cancelled: asyncio.Event,
    watch: Callable[[StreamEntry], None] = _nobody,
) -> None:
    """The attempt of this order; `watch` sees each entry of its stream once it is recorded."""
    started = time.monotonic()
    async with _with_rehearsal(order) as open_run, BrokerClient(Path(order.admin_socket)) as broker:
        note = NoteFile(order, os.getpid())
        try:
            opened = await broker.open_run(open_run)
        except RefusedError as error:
            note.discard()
            return tell(NotOpened(refusal=error.refusal))
        except BrokerUnreachableError as error:
            note.discard()
            return tell(BrokerAway(why=str(error)))
        note.opened(opened)
        tell(Opened(id=opened.id, launch_sha256=opened.launch_sha256))
        attempt = Attempt(
            order, opened, broker, started=started, watch=watch, rehearsal=open_run.rehearsal
        )
        try:
            result = await attempt.run(cancelled)
        except BaseException as error:
            await _give_up(broker, opened.id, error)
            raise
        path = attempt.write(result)
        note.ended()
        tell(Ended(result=str(path)))
    return None


async def _give_up(broker: BrokerClient, attempt: str, error: BaseException) -> None:
    """An attempt that cannot be kept must not stay open at the broker."""
    facts = HostFacts(sandbox_started=False, start_error=f"the keeper failed: {error!r}")
    try:
        await broker.host_facts(attempt, HostReport(host=facts))
    except (BrokerUnreachableError, RefusedError) as refused:
        log.warning("the attempt could not be closed: %s", refused)


@asynccontextmanager
async def _with_rehearsal(order: Order) -> AsyncIterator[OpenRun]:
    """The request to the broker, with the port of a provider that plays the script."""
    if order.rehearsal is None:
        yield order.open_run
        return
    script, key = Path(order.rehearsal.script), order.rehearsal.key
    log_file = Path(order.result_folder) / "rehearsal.jsonl"
    async with rehearsing(script, key=key, log=log_file) as port:
        yield msgspec.structs.replace(order.open_run, rehearsal=Rehearsal(port=port, key=key))


class Attempt:
    """An attempt that the broker has opened."""

    def __init__(
        self,
        order: Order,
        opened: RunOpenedReply,
        broker: BrokerClient,
        *,
        started: float,
        watch: Callable[[StreamEntry], None],
        rehearsal: Rehearsal | None,
    ) -> None:
        self._order = order
        self._opened = opened
        self._broker = broker
        self._started = started
        self._watch = watch
        self._folder = Path(order.result_folder)
        self._recorder = Recorder(self._folder)
        self._held = HeldTime()
        self._follower = Follower(
            broker,
            opened.id,
            self._take,
            away_limit_s=order.broker_away_s,
            rehearsal=rehearsal,
        )

    def _take(self, entry: StreamEntry) -> None:
        self._recorder.take(entry)
        self._held.take(decode_event(entry.event), entry.at_ms)
        self._watch(entry)

    async def run(self, cancelled: asyncio.Event) -> AttemptResult:
        """Run the sandbox to its end and have the broker decide."""
        directory = Path(self._opened.directory)
        box = SandboxBox(self._order, directory, held_ms=self._held.until)
        try:
            try:
                await self._run_box(box, directory, cancelled)
                # What the host may say depends on when the agent ended.
                await self._follower.catch_up()
                return await self._close(self._host_facts(box))
            except (BrokerLostError, RefusedError) as error:
                log.warning("the broker is lost: %s", error)
                kept = self._kept(self._host_facts(box), bundle=None)
                return result_document.broker_lost(kept, f"the broker was lost: {error}")
        finally:
            await box.take_down()
            attempt_files.remove(directory)
            if box.life.output:
                (self._folder / "sandbox.log").write_bytes(bytes(box.life.output))

    async def _run_box(self, box: SandboxBox, directory: Path, cancelled: asyncio.Event) -> None:
        """BrokerLostError or RefusedError where the broker stopped answering meanwhile."""
        stop_soon, stop_now = asyncio.Event(), asyncio.Event()
        lost: list[BrokerLostError | RefusedError] = []

        async def follow() -> None:
            try:
                await self._follower.follow()
            except (BrokerLostError, RefusedError) as error:
                lost.append(error)
                stop_now.set()

        async def pass_on_cancel() -> None:
            await cancelled.wait()
            try:
                await self._broker.cancel(self._opened.id)
            except (BrokerUnreachableError, RefusedError) as error:
                log.warning("the broker did not take the cancel: %s", error)
            stop_soon.set()

        await self._start_box(box, directory)
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(follow()), group.create_task(pass_on_cancel())]
            if box.life.start_error is None:
                await box.run(stop_soon=stop_soon, stop_now=stop_now)
            for task in watching:
                task.cancel()
        if lost:
            raise lost[0]

    async def _start_box(self, box: SandboxBox, directory: Path) -> None:
        try:
            attempt_files.lay_out(self._order, self._opened)
            await self._note(StageChanged(stage=Stage.SANDBOX, state=StageState.STARTED))
            ticket = await self._follower.insist(lambda: self._broker.enrol(self._opened.id))
            attempt_files.place_token(directory, ticket.token)
        except (OSError, attempt_files.LaunchAlteredError) as error:
            box.life.start_error = f"the attempt directory cannot be filled: {error}"

    async def _note(self, event: StageChanged) -> None:
        """For those who watch; an attempt does not depend on it."""
        try:
            await self._broker.note(self._opened.id, event)
        except (BrokerUnreachableError, RefusedError) as error:
            log.warning("a stage could not be noted: %s", error)

    def _host_facts(self, box: SandboxBox) -> HostFacts:
        life, moments = box.life, self._recorder.moments
        return sum_up(
            Observed(
                exit_code=life.exit_code,
                start_error=life.start_error,
                killed_at_deadline=life.killed_at_deadline,
                started_wall_ms=life.started_wall_ms,
                first_event_ms=moments.first_event_ms,
                agent_ended_ms=moments.agent_ended_ms,
                total_ms=round((time.monotonic() - self._started) * 1000),
                oom=life.oom,
                oom_why=life.oom_why,
                peak_bytes=life.peak_bytes,
                last_words=bytes(life.output),
            )
        )

    async def _close(self, facts: HostFacts) -> AttemptResult:
        view: RunView = await self._follower.insist(
            lambda: self._broker.host_facts(self._opened.id, HostReport(host=facts))
        )
        try:
            await asyncio.wait_for(self._follower.follow(), CLOSING_S)
        except TimeoutError:
            log.warning("the event stream did not end in %.0f s", CLOSING_S)
        bundle = await self._follower.insist(lambda: self._broker.bundle(self._opened.id))
        path = self._folder / "receipts.bundle"
        path.write_bytes(bundle)
        return result_document.document(self._kept(facts, bundle=path), view)

    def _kept(self, facts: HostFacts, *, bundle: Path | None) -> result_document.Kept:
        request = self._order.open_run
        return result_document.Kept(
            run=request.run,
            attempt=request.attempt,
            spec=request.spec,
            host=facts,
            moments=self._recorder.moments,
            bundle=None if bundle is None else str(bundle),
            notes=self._order.notes,
        )

    def write(self, result: AttemptResult) -> Path:
        """The result file, whole or not at all."""
        path = self._folder / "result.json"
        write_json(path, result)
        try:
            write_trajectory(self._folder)
        except Exception:  # the result stands; `stanchion export` makes a trajectory at any time
            log.exception("the trajectory could not be written")
        return path
