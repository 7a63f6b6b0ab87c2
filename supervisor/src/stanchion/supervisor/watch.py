"""Watches one agent from its start to the proof that nothing of it is left.

The sensors' evidence goes to the watchdog, the first order to stop wins, and stopping is TERM to
the harness, then KILL to everything. A sensor that fails is told once and never ends the agent.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from stanchion.harness_adapters.base import (
    DocumentStore,
    LinesStore,
    SessionReader,
    SqliteStore,
    Store,
)
from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import (
    Event,
    HarnessEnded,
    OutputStream,
    OutputWritten,
    Stopping,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.evidence import SessionEnd, SessionState, Stop
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.vitals import Vitals
from stanchion.supervisor.answers import Answers
from stanchion.supervisor.clock import Clock
from stanchion.supervisor.evidence import Evidence, Tick
from stanchion.supervisor.isolation import AgentProcess, ProcessEnd
from stanchion.supervisor.linger import LINGER_MS, Linger
from stanchion.supervisor.process_tree import ProcessTree, total_rss
from stanchion.supervisor.relay import Relay
from stanchion.supervisor.sensors.document_tail import DocumentTail
from stanchion.supervisor.sensors.file_changes import FileChanges
from stanchion.supervisor.sensors.lines_tail import LinesTail
from stanchion.supervisor.sensors.pace import StoreRhythm
from stanchion.supervisor.sensors.session import Session
from stanchion.supervisor.sensors.stdout import pump
from stanchion.supervisor.sensors.store import StoreSensor, StoreTail, Tail
from stanchion.supervisor.sensors.vitals import own_rss_bytes, sample_tree
from stanchion.supervisor.sensors.wire import WireSense
from stanchion.supervisor.watchdog import Watchdog

WHY = {
    "rss_bytes": "no process could be read",
    "progress_age_ms": "no progress yet",
    "liveness_age_ms": "no sign of life yet",
}


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often and how long."""

    tick_s: float = 1.0
    vitals_s: float = 5.0
    term_s: float = 5.0
    """Between TERM and KILL."""
    pipes_s: float = 2.0
    """For what stands in the pipes when everything has ended."""
    linger_ms: int = LINGER_MS
    store: StoreRhythm = field(default_factory=StoreRhythm)


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """What is known when nothing of the agent is left."""

    process: ProcessEnd
    stop: Stop | None
    session: SessionEnd
    progress_age_ms: int | None
    hung_after_end: bool
    agent_ms: int


class Watch:
    """One agent under watch."""

    def __init__(
        self,
        agent: AgentProcess,
        *,
        spec: LaunchSpec,
        reader: SessionReader,
        store: Store | None,
        answers: Answers,
        relay: Relay,
        publish: Callable[[Event], None],
        clock: Clock,
        rhythm: Rhythm,
    ) -> None:
        self._agent = agent
        self._answers = answers
        self._relay = relay
        self._publish = publish
        self._clock = clock
        self._rhythm = rhythm
        self._started_ms = clock.mono_ms()
        self._dog = Watchdog(
            spec.watchdog, agent_s=spec.deadlines.agent_s, started_ms=self._started_ms
        )
        self._linger = Linger(started_ms=self._started_ms, after_ms=rhythm.linger_ms)
        self._tree = ProcessTree()
        self._session = Session(reader, publish, self.observe)
        self._changes = FileChanges()
        self._store = (
            StoreSensor(_tail(store), self._session.rows, rhythm.store, self._changes)
            if store
            else None
        )
        self._wire = WireSense()
        self._warned: set[str] = set()
        self._stop: Stop | None = None
        self._hung = False
        self._over = False
        """Nothing of the agent is left: what is ordered or decided now is too late."""
        self._ordered = asyncio.Event()

    def wire(self, message: ExchangeSeen | WireEvent) -> None:
        """The broker's view of the wire."""
        evidence = self._wire.evidence(message)
        if evidence is not None:
            self.observe(evidence)

    def observe(self, evidence: Evidence) -> None:
        """Evidence to the watchdog, its decision to the agent."""
        stop = self._dog.observe(evidence, self._clock.mono_ms())
        if stop is not None:
            self.order(stop)

    def order(self, stop: Stop) -> None:
        """Stop the agent; the first order wins."""
        if self._stop is None and not self._hung and not self._over:
            self._stop = stop
            self._publish(Stopping(stop=stop))
            self._ordered.set()

    async def run(self) -> AgentEnd:
        """Until nothing of the agent is left and its last words are read."""
        async with asyncio.TaskGroup() as tasks:
            outputs = [
                tasks.create_task(pump(self._agent.stdout, self._stdout, self._session.line)),
                tasks.create_task(pump(self._agent.stderr, self._stderr)),
            ]
            others = [
                tasks.create_task(self._tick()),
                tasks.create_task(self._sample()),
                tasks.create_task(self._end_on_order()),
            ]
            if self._store is not None:
                others.append(tasks.create_task(self._store.run(self._store_failed)))
            process = await self._agent.wait()
            self._ended(process)
            await self._relay.close()
            for task in others:
                task.cancel()
            await asyncio.wait(outputs, timeout=self._rhythm.pipes_s)
            for task in outputs:
                task.cancel()
        self._agent.close()
        self._changes.close()
        progress_age_ms = self._dog.progress_age_ms
        if self._store is not None:
            await self._store.read(self._store_failed, writer_gone=process.namespace_empty)
            self._store.close()
        return AgentEnd(
            process=process,
            stop=self._stop,
            session=self._session.end(),
            progress_age_ms=progress_age_ms,
            hung_after_end=self._hung,
            agent_ms=self._clock.mono_ms() - self._started_ms,
        )

    def _ended(self, process: ProcessEnd) -> None:
        self._publish(
            HarnessEnded(
                wait=process.wait,
                why=process.why,
                killed_from_inside=process.killed_from_inside,
                namespace_empty=process.namespace_empty,
            )
        )
        self._over = True
        self._dog.observe(Tick(), self._clock.mono_ms())

    async def _end_on_order(self) -> None:
        await self._ordered.wait()
        self._agent.terminate()
        await asyncio.sleep(self._rhythm.term_s)
        self._agent.kill()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._rhythm.tick_s)
            self.observe(Tick())
            self._check_linger()

    def _check_linger(self) -> None:
        finished = (
            not self._dog.liveness.in_flight and self._session.end().state is SessionState.GOOD
        )
        lingered = self._linger.observe(finished=finished, at_ms=self._clock.mono_ms())
        if lingered and self._stop is None and not self._hung:
            self._hung = True
            detail = "its session ended well and it did not exit"
            self._publish(Warned(what="hung_after_end", detail=detail))
            self._ordered.set()

    async def _sample(self) -> None:
        while True:
            self._carefully("vitals", self._sample_once)
            for path in self._answers.paths:
                self._changes.follow(path, self._look_at_answers)
            self._look_at_answers()
            await asyncio.sleep(self._rhythm.vitals_s)

    def _look_at_answers(self) -> None:
        self._carefully("answers", self._answers.look)

    def _carefully(self, what: str, look: Callable[[], None]) -> None:
        try:
            look()
        except Exception as error:  # noqa: BLE001 - observing must never end the run
            self._warn(what, f"{type(error).__name__}: {error}")

    def _sample_once(self) -> None:
        samples = sample_tree(self._agent.pid)
        for sign in (*self._tree.observe(samples, self._clock.mono_ms()), Tick()):
            self.observe(sign)  # the tick at the end: ages are those of now
        dog = self._dog
        gauges = Vitals(
            processes=len(samples),
            cpu_ms=self._tree.cpu_ms,
            rss_bytes=total_rss(samples),
            supervisor_rss_bytes=own_rss_bytes(),
            progress_age_ms=dog.progress_age_ms,
            liveness_age_ms=dog.liveness_age_ms,
            steps=dog.progress.counted_steps,
            requests=dog.liveness.requests,
            held_ms=dog.held_ms,
            waiting=dog.waiting,
            why=_why(
                rss_bytes=total_rss(samples),
                progress_age_ms=dog.progress_age_ms,
                liveness_age_ms=dog.liveness_age_ms,
            ),
        )
        self._publish(VitalsSampled(vitals=gauges))

    def _stdout(self, data: bytes) -> None:
        self._publish(OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=data))

    def _stderr(self, data: bytes) -> None:
        self._publish(OutputWritten(stream=OutputStream.HARNESS_STDERR, data=data))

    def _store_failed(self, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"
        self._warn("store", f"the harness's log could not be read: {what}")

    def _warn(self, what: str, detail: str) -> None:
        """Of each sensor once."""
        if what not in self._warned:
            self._warned.add(what)
            self._publish(Warned(what=what, detail=detail))


def _why(**gauges: int | None) -> dict[str, str]:
    """The reason for each gauge that is null."""
    return {name: WHY[name] for name, value in gauges.items() if value is None}


def _tail(store: Store) -> Tail:
    """The reader for this kind of store."""
    match store:
        case SqliteStore():
            return StoreTail(store)
        case LinesStore():
            return LinesTail(store)
        case DocumentStore():
            return DocumentTail(store)
