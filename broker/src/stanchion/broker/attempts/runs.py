"""All attempts of this broker: opens them under their profile's policy, finds them, closes them.

An attempt exists once its run.open receipt is durable; whatever fails before that leaves nothing
behind. It never reuses an attempt's number.
"""

import asyncio
import logging
import os
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import msgspec

from stanchion.broker.accounts import Accounts
from stanchion.broker.admin.views import view_of, vitals_of
from stanchion.broker.attempts.attempt import Attempt, Terms
from stanchion.broker.attempts.closing import close_attempt
from stanchion.broker.attempts.listeners import Listeners, make_directory
from stanchion.broker.attempts.lost_hosts import lost_host, silent_host
from stanchion.broker.attempts.policy import check_launch
from stanchion.broker.attempts.restoring import Origin, Restored, present, restore
from stanchion.broker.attempts.tally import Tally
from stanchion.broker.attempts.verdict import Verdict
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.config import Config
from stanchion.broker.plane.pacing.trips import Trip
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.target import Target
from stanchion.broker.receipts.ledger import Ledger, LedgerError
from stanchion.broker.receipts.store import RunRow
from stanchion.broker.tasks import Tasks
from stanchion.protocol.admin import OpenRun, Rehearsal, RunOpenedReply, RunView
from stanchion.protocol.codec import decode, digest, encode
from stanchion.protocol.events import RunOpened
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.ids import AttemptId, attempt_id, run_id
from stanchion.protocol.launch import FrozenLaunch
from stanchion.protocol.overview import AttemptVitals
from stanchion.protocol.receipt import RunOpen
from stanchion.protocol.refusal import RefusedError, refuse

STOP_S = 2.0
_log = logging.getLogger("stanchion.broker")

_DECIMAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?\Z")


@dataclass(slots=True)
class _Run:
    attempt: Attempt
    listeners: Listeners
    closing: asyncio.Lock = field(default_factory=asyncio.Lock)
    verdict: Verdict | None = None
    closed_at_ms: int | None = None

    def view(self) -> RunView:
        return view_of(self.attempt, closed_at_ms=self.closed_at_ms, verdict=self.verdict)


class _EndedHow(msgspec.Struct):
    reason: str


class _Ended(msgspec.Struct):
    """What is counted of a stored view."""

    outcome: _EndedHow


class Runs:
    """The attempts."""

    def __init__(
        self, *, config: Config, accounts: Accounts, ledger: Ledger, tasks: Tasks, runtime_dir: Path
    ) -> None:
        self._config = config
        self._accounts = accounts
        self._ledger = ledger
        self._tasks = tasks
        self._runtime_dir = runtime_dir
        self._live: dict[str, _Run] = {}
        self.tally = Tally()
        self._origin = Origin(config, accounts, ledger, tasks, self.tally)
        self._former = {row.attempt_id: row for row in ledger.store.runs()}
        self._opening: set[str] = set()
        for view in (row.view for row in self._former.values()):
            if view is not None:
                self.tally.closed[decode(view, _Ended).outcome.reason] += 1

    @property
    def open_count(self) -> int:
        """Attempts that are not closed."""
        return sum(run.closed_at_ms is None for run in self._live.values())

    @property
    def accounts(self) -> Accounts:
        """Who pays."""
        return self._accounts

    def tripped(self, profile: str) -> dict[str, Trip]:
        """Accounts of a profile under which nothing starts, and why."""
        return self._accounts.tripped(profile)

    def turns(self) -> dict[tuple[str, str], Turns]:
        """The queues by profile and account."""
        return self._accounts.turns()

    async def open(self, order: OpenRun, *, by: str) -> RunOpenedReply:
        """Check, freeze, listen, and put on record; `by`: who asked, as the kernel says."""
        name = _checked_id(order)
        profile, account = check_launch(order, self._config.profiles)
        if not _DECIMAL.match(order.untouched_reward):
            raise refuse(
                "untouched_reward",
                field="untouched_reward",
                value=order.untouched_reward[:80],
                rule="it is decimal text, as 0 or 0.5",
                remedy="Mend the task's metadata",
            )
        self._check_room(name)
        reference, target = self._accounts.resolve(order, account)
        launch = FrozenLaunch(
            spec=order.spec,
            account=reference,
            policy=profile.policy,
            capture=profile.capture,
            allow_fields=tuple(sorted(profile.allow_fields)),
        )
        self._opening.add(name)
        try:
            return await self._open(name, order, launch, target, by=by)
        finally:
            self._opening.discard(name)

    async def _open(
        self, name: AttemptId, order: OpenRun, launch: FrozenLaunch, target: Target, *, by: str
    ) -> RunOpenedReply:
        listeners = Listeners(make_directory(self._runtime_dir))
        try:
            terms = Terms(
                id=name,
                launch=launch,
                launch_sha256=digest(launch),
                directory=listeners.directory,
                opened_at_ms=wall_ms(),
                untouched_reward=order.untouched_reward,
                target=target,
            )
            attempt = await self._record(terms, order, by=by)
            await listeners.open(attempt, self._tasks)
            attempt.publish(RunOpened(spec_sha256=terms.launch_sha256))
        except BaseException:  # a shutdown cancels it, too
            listeners.remove_directory()
            raise
        self._live[name] = _Run(attempt, listeners)
        return RunOpenedReply(
            id=name,
            directory=str(terms.directory),
            launch=launch,
            launch_sha256=terms.launch_sha256,
        )

    async def _record(self, terms: Terms, order: OpenRun, *, by: str) -> Attempt:
        book = await self._ledger.begin(terms.id, holds_bodies=False)
        await book.append(
            RunOpen,
            nonce=os.urandom(16).hex(),
            launch=terms.launch,
            launch_sha256=terms.launch_sha256,
            broker_version=metadata.version("stanchion"),
            rehearsal_port=None if order.rehearsal is None else order.rehearsal.port,
            opened_by=by,
        )
        await self._ledger.store.save_run(
            RunRow(
                attempt_id=terms.id,
                directory=str(terms.directory),
                launch=encode(terms.launch),
                launch_sha256=terms.launch_sha256,
                untouched_reward=terms.untouched_reward,
                opened_at_ms=terms.opened_at_ms,
            )
        )
        return Attempt(
            terms=terms, ledger=self._ledger, book=book, tasks=self._tasks, tally=self.tally
        )

    def attempt(self, name: str) -> Attempt:
        """An open attempt; RefusedError where there is none."""
        run = self._live.get(self.full_id(name))
        if run is None or run.closed_at_ms is not None:
            raise _no_run(name, "an open attempt")
        return run.attempt

    def known(self, name: str) -> str:
        """The full id of any attempt, open or closed."""
        full = self.full_id(name)
        if full not in self._live and full not in self._former:
            raise _no_run(name, "an attempt of this broker")
        return full

    def full_id(self, name: str) -> str:
        """The id itself, or of a run's newest attempt."""
        if "." in name:
            return name
        names = [known for known in (*self._former, *self._live) if known.startswith(f"{name}.")]
        return max(names, key=lambda known: int(known.partition(".")[2]), default=name)

    def view(self, name: str) -> RunView:
        """What is known of an attempt."""
        full = self.known(name)
        if full in self._live:
            return self._live[full].view()
        row = self._former[full]
        if row.view is None:
            raise _no_run(name, "an attempt that this broker opened or that was closed")
        return decode(row.view, RunView)

    def views(self) -> list[RunView]:
        """All of them, oldest first."""
        former = [
            decode(row.view, RunView)
            for name, row in self._former.items()
            if name not in self._live and row.view is not None
        ]
        return [*former, *(run.view() for run in self._live.values())]

    def vitals(self, names: AbstractSet[str] | None) -> tuple[AttemptVitals, ...]:
        """Where these attempts stand, as far as they were open under this broker; None = open."""
        return tuple(
            vitals_of(run.attempt, closed_at_ms=run.closed_at_ms, verdict=run.verdict)
            for name, run in self._live.items()
            if (run.closed_at_ms is None if names is None else name in names)
        )

    def closed(self) -> list[tuple[int, str]]:
        """When each closed attempt was closed, oldest first."""
        former = [
            (row.closed_at_ms, name)
            for name, row in self._former.items()
            if name not in self._live and row.closed_at_ms is not None
        ]
        live = [
            (run.closed_at_ms, name)
            for name, run in self._live.items()
            if run.closed_at_ms is not None
        ]
        return sorted([*former, *live])

    def ended(self, name: str) -> bool:
        """Whether nothing will follow in its stream."""
        run = self._live.get(name)
        return run is None or run.attempt.sealed

    async def close(self, name: str, host: HostFacts) -> RunView:
        """Close with the host's facts; said again, it answers the same."""
        run = self._live.get(self.full_id(name))
        if run is None:
            return self.view(name)
        return await self._close(run, host, None)

    async def _close(self, run: _Run, host: HostFacts, closed_at_ms: int | None) -> RunView:
        async with run.closing:
            if run.closed_at_ms is None:
                run.verdict = await close_attempt(run.attempt, host)
                run.closed_at_ms = closed_at_ms or wall_ms()
                self.tally.closed[run.verdict.outcome.reason.value] += 1
                run.listeners.close()
                await self._ledger.store.close_run(
                    run.attempt.terms.id,
                    closed_at_ms=run.closed_at_ms,
                    view=msgspec.json.encode(run.view()),
                )
        return run.view()

    async def restore(self) -> None:
        """Take over the attempts that a former broker left open."""
        for row in [row for row in self._former.values() if row.closed_at_ms is None]:
            try:
                await self._take_over(await restore(row, self._origin))
            except (LedgerError, OSError, RefusedError) as error:
                _log.error("attempt %s cannot be taken over: %s", row.attempt_id, error)

    async def _take_over(self, restored: Restored) -> None:
        attempt = restored.attempt
        run = _Run(attempt, Listeners(attempt.terms.directory))
        self._live[attempt.terms.id] = run
        if restored.host is not None:
            await self._close(run, restored.host, restored.closed_at_ms)
        elif (restarted := self._ledger.events.host_restarted) or not run.listeners.stands():
            await self._close(run, lost_host(restarted), None)
        else:
            await run.listeners.reopen(attempt, self._tasks)
            _log.info("attempt %s goes on, %d exchanges", attempt.terms.id, attempt.wire.exchanges)

    def present(self, name: str, rehearsal: Rehearsal) -> None:
        """A launcher presents the provider of an attempt that was taken over."""
        present(self.attempt(name), rehearsal, self._origin)

    async def sweep(self, after_s: float) -> None:
        """Close what nobody has been heard of for so long: no supervisor is there, no launcher."""
        for run in list(self._live.values()):
            attempt = run.attempt
            silent_s = (mono_ms() - attempt.heard_mono_ms) / 1000
            if run.closed_at_ms is None and attempt.tell is None and silent_s >= after_s:
                _log.warning("attempt %s: nobody was heard for %d s", attempt.terms.id, silent_s)
                await self._close(run, silent_host(round(silent_s)), None)

    async def stop(self) -> None:
        """The broker ends: cut what runs, close the listeners. The attempts stay open on record."""
        for run in self._live.values():
            run.listeners.close()
            for flow in list(run.attempt.flows):
                flow.revoke()
        await asyncio.gather(*(run.attempt.settle(STOP_S) for run in self._live.values()))

    def _check_room(self, name: AttemptId) -> None:
        if name in self._live or name in self._former or name in self._opening:
            raise refuse(
                "attempt_exists",
                field="attempt",
                value=name,
                rule="an attempt is opened once",
                remedy="Use the next attempt number",
            )
        if self.open_count + len(self._opening) >= self._config.broker.max_runs:
            raise refuse(
                "too_many_runs",
                field="broker.max_runs",
                value=self._config.broker.max_runs,
                rule="no more attempts than that are open at a time",
                remedy="Wait for one to end, or raise max_runs",
            )


def _checked_id(order: OpenRun) -> AttemptId:
    try:
        return attempt_id(run_id(order.run), order.attempt)
    except ValueError as error:
        raise refuse(
            "attempt_id",
            field="run, attempt",
            value=None,
            rule=str(error),
            remedy="Send 12 lower-case hex digits and a number from 1",
        ) from None


def _no_run(name: str, what: str) -> Exception:
    return refuse(
        "run_unknown",
        field="ID",
        value=name[:40],
        rule=f"it names {what}",
        remedy="See GET /v1/runs",
    )
