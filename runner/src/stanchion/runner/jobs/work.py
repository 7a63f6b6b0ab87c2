"""The actions of a plan, with real keepers: start one, watch one, explain what one left behind.

Never decides how an attempt ended, and never stops one unless the whole job is cancelled.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.broker.client.paths import runtime_dir
from stanchion.protocol.events import Event, Unknown, decode_event
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.host.process_end import until_gone
from stanchion.runner.host.process_identity import is_gone
from stanchion.runner.jobs.job import Job
from stanchion.runner.jobs.plan import Attach, Explain, Key, Start
from stanchion.runner.jobs.scheduler import GaveUp
from stanchion.runner.keeper.follow import BrokerLostError
from stanchion.runner.keeper.progress_file import note_not_opened, read_progress
from stanchion.runner.launching.attempt_run import AttemptError, run_attempt
from stanchion.runner.launching.broker_return import BrokerReturn
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.launching.run_command import Prepared, launch_in
from stanchion.runner.launching.start_file import StartFile, read_start
from stanchion.runner.live.following import read_events
from stanchion.runner.orphans.looking import Places, look
from stanchion.runner.orphans.removing import remove
from stanchion.runner.results.job_folder import RESULT, JobFolder

FULL_S = 5.0
"""Between tries while the broker has as many open attempts as it takes."""
NEVER_OPENED = "its keeper was gone before the broker had opened the attempt"

Show = Callable[[Key, Event | Unknown], None]


@dataclass(slots=True)
class KeeperWork:
    """For one job and one result folder."""

    job: Job
    folder: JobFolder
    prepared: Mapping[str, Prepared]
    cancel: asyncio.Event
    show: Show
    restart_broker: Callable[[], Awaitable[object]]
    """The broker went away: have another one, or raise why not."""
    broker_back: BrokerReturn | None = None
    """The same for attempts that are under way."""
    spare: Keeper | None = None
    """One that is ready for the first order."""
    broker_tries: int = 3
    """Of one attempt, before it is given up."""
    _away: dict[Key, int] = field(default_factory=dict)

    async def start(self, action: Start) -> GaveUp | None:
        """A keeper of its own for the attempt."""
        task = self.job.task(action.task)
        launch = launch_in(self.prepared[action.task], self.folder, number=action.number)
        launch.run, launch.retry_of, launch.cancel = task.run, action.retry_of, self.cancel
        launch.broker_back = self.broker_back
        keeper, self.spare = self.spare, None
        try:
            await run_attempt(launch, lambda event: self.show(action.key, event), keeper)
        except RefusedError as error:
            if error.refusal.id != "too_many_runs":
                return GaveUp(str(error), error.refusal)
            await self._pause()
        except BrokerUnreachableError as error:
            return await self._broker_away(action.key, error)
        except AttemptError:  # the disk says what is to be done about it
            return None
        return None

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.cancel.wait(), FULL_S)

    async def _broker_away(self, key: Key, error: BrokerUnreachableError) -> GaveUp | None:
        self._away[key] = self._away.get(key, 0) + 1
        if self._away[key] >= self.broker_tries:
            return GaveUp(str(error), broker_away=True)
        await self.restart_broker()
        return None

    async def attach(self, action: Attach) -> GaveUp | None:
        """Until its keeper is gone."""
        start = read_start(self._folder(action.key))
        if start is None:
            return None
        async with asyncio.TaskGroup() as group:
            showing = group.create_task(self._follow(action.key, start))
            passing_on = group.create_task(self._pass_on(start))
            await until_gone(start.pid, start.identity or "")
            showing.cancel()
            passing_on.cancel()
        return None

    async def _follow(self, key: Key, start: StartFile) -> None:
        """Only for showing."""
        paths = self.prepared[key[0]].paths
        with suppress(BrokerLostError, BrokerUnreachableError, RefusedError):
            async with BrokerClient(paths.admin_socket) as broker:
                await read_events(
                    broker,
                    f"{start.run}.{start.attempt}",
                    lambda entry: self.show(key, decode_event(entry.event)),
                    follow=True,
                )

    async def _pass_on(self, start: StartFile) -> None:
        await self.cancel.wait()
        if not is_gone(start.pid, start.identity or ""):
            with suppress(ProcessLookupError):
                os.kill(start.pid, signal.SIGTERM)

    async def explain(self, action: Explain) -> GaveUp | None:
        """End it at the broker, write its result from there, take away what it left."""
        folder = self._folder(action.key)
        start = read_start(folder)
        if start is None:
            return None
        name = f"{start.run}.{start.attempt}"
        places = Places(self.prepared[action.task].paths, runtime_dir(os.environ))
        try:
            left = [trace for trace in await look(places) if trace.attempt == name]
            done = await remove(places, left)
        except BrokerUnreachableError as error:
            return await self._broker_away(action.key, error)
        if (folder / RESULT).is_file():
            return None
        refused = next((one.words for one in done if not one.done), None)
        if refused is not None:
            return GaveUp(f"{name} cannot be explained: {refused}")
        said = read_progress(folder)
        why = said.why if said is not None and said.why is not None else NEVER_OPENED
        note_not_opened(folder, why)
        return GaveUp(f"{name} never began: {why}")

    def _folder(self, key: Key) -> Path:
        task, number = key
        return self.folder.attempt(task, number)
