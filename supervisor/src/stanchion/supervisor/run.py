"""The story of one attempt, top to bottom: load, enrol, gate, configure, relay, spawn, watch,
freeze, verify, claim, flush.

Every way to the end is the same way: whatever refuses or stops the agent becomes part of the claim,
the claim goes out, and the supervisor leaves. It never decides an outcome.
"""

import asyncio
import secrets
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from stanchion.harness_adapters.base import Adapter
from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import (
    Claimed,
    Event,
    HarnessStarted,
    IsolationChecked,
    SecurityNoted,
    Stage,
)
from stanchion.protocol.evidence import Answer, Claim, Stop, StopReason, VerifierRun
from stanchion.protocol.launch import Artifact, LaunchSpec
from stanchion.protocol.refusal import Refusal, RefusedError, refuse
from stanchion.supervisor.answers import Answers
from stanchion.supervisor.artifacts import Collection
from stanchion.supervisor.clock import Clock, SystemClock
from stanchion.supervisor.configure import Configured, configure, settings_for
from stanchion.supervisor.control import Callbacks, Control, Patience
from stanchion.supervisor.gate import check_isolation, check_package, check_terms, isolation_mode
from stanchion.supervisor.isolation import AgentProcess, IsolationError, Job, start
from stanchion.supervisor.launch_files import Launch, load, look_at_package
from stanchion.supervisor.outbox import Outbox
from stanchion.supervisor.paths import Paths
from stanchion.supervisor.relay import Relay
from stanchion.supervisor.stages import stage
from stanchion.supervisor.verify import verify
from stanchion.supervisor.watch import AgentEnd, Rhythm, Watch

FLUSH_S = 30.0
ROOM_BYTES = 8 * 1024 * 1024

POINTLESS_TO_VERIFY = frozenset({StopReason.CANCELLED, StopReason.MISMATCH, StopReason.BROKER_LOST})
"""After these no reward would count."""


@dataclass(slots=True)
class _Told:
    """What the claim will say, as far as it is known."""

    refusal: Refusal | None = None
    end: AgentEnd | None = None
    answers: tuple[Answer, ...] | None = None
    verifier: VerifierRun | None = None
    isolation: str | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Every wait of the story; tests make them short."""

    rhythm: Rhythm = field(default_factory=Rhythm)
    patience: Patience = field(default_factory=Patience)
    flush_s: float = FLUSH_S


class Story:
    """One attempt."""

    def __init__(
        self,
        *,
        find_adapter: Callable[[LaunchSpec], Adapter],
        paths: Paths | None = None,
        clock: Clock | None = None,
        timing: Timing | None = None,
        started_mono_ms: int | None = None,
    ) -> None:
        self._find_adapter = find_adapter
        self._paths = paths or Paths()
        self._clock = clock or SystemClock()
        self._timing = timing or Timing()
        self._started_mono_ms = started_mono_ms
        boot = secrets.token_hex(8)
        self._outbox = Outbox(boot=boot)
        self._control = Control(
            self._paths.control_socket,
            self._outbox,
            self._clock,
            Callbacks(wire=self._wire, stop=self.stop),
            boot=boot,
            patience=self._timing.patience,
        )
        self._publish = self._control.publish
        self._watch: Watch | None = None
        self._stop: Stop | None = None
        self._late_stop: Stop | None = None
        """Counts also where the agent had ended by itself before."""
        self._pointless = asyncio.Event()
        """Set where no reward would count."""
        self._told = _Told()

    async def run(self) -> bool:
        """From the launch to the acknowledged claim; False = the claim could not be delivered."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._asked_to_stop)
        with stage(Stage.LOAD, self._publish, self._clock, started_mono_ms=self._started_mono_ms):
            launch = load(self._paths)
        with self._stage(Stage.ENROL):
            await self._control.enrol(launch.token, launch.sha256)
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._control.keep())
            await self._attempt(launch)
            self._publish(Claimed(claim=self._claim()))
            delivered = await self._control.flush(self._timing.flush_s)
            keeping.cancel()
        return delivered

    async def _attempt(self, launch: Launch) -> None:
        relay = Relay(self._paths.model_socket, lambda: self._control.lease)
        answers = Answers(launch.frozen.spec.workspace.answers)
        try:
            await self._run_agent(launch, relay, answers)
        except RefusedError as error:
            self._told.refusal = error.refusal
        finally:
            await relay.close()
        if self._told.end is None:
            return
        with self._stage(Stage.FREEZE):
            self._told.answers = await answers.freeze(self._send)
        if not self._pointless.is_set():
            with self._stage(Stage.VERIFY):
                self._told.verifier = await verify(
                    launch.frozen.spec, self._paths, self._publish, self._clock, self._pointless
                )
        await self._collect(launch.frozen.spec)

    async def _collect(self, spec: LaunchSpec) -> None:
        """What the task wants kept, and what was put where Harbor's agents put it."""
        collection = Collection(self._send, answers=spec.workspace.answers or ())
        published = Artifact(source=str(self._paths.logs_dir / "artifacts"))
        declared = spec.workspace.artifacts
        if published.source not in {artifact.source.rstrip("/") for artifact in declared}:
            await collection.collect(published, wanted=False)
        for artifact in declared:
            await collection.collect(artifact)

    async def _run_agent(self, launch: Launch, relay: Relay, answers: Answers) -> None:
        with self._stage(Stage.GATE):
            adapter, output_limit = self._gate(launch)
        with self._stage(Stage.CONFIGURE):
            configured = self._configure(launch, adapter, output_limit, relay.port)
        with self._stage(Stage.RELAY):
            await relay.open()
        with self._stage(Stage.SPAWN):
            agent = await self._spawn(launch.frozen.spec, configured)
        if agent is None:
            return
        with self._stage(Stage.AGENT):
            self._watch = Watch(
                agent,
                spec=launch.frozen.spec,
                reader=adapter.session(),
                store=configured.plan.store,
                answers=answers,
                relay=relay,
                publish=self._publish,
                clock=self._clock,
                rhythm=self._timing.rhythm,
            )
            self._told.end = await self._watch.run()

    def _gate(self, launch: Launch) -> tuple[Adapter, int]:
        spec = launch.frozen.spec
        adapter = self._find_adapter(spec)
        output_limit = check_terms(launch, adapter)
        check_package(spec, look_at_package(self._paths.package(spec.harness)))
        return adapter, output_limit

    def _configure(
        self, launch: Launch, adapter: Adapter, output_limit: int, port: int
    ) -> Configured:
        settings = settings_for(
            launch.frozen.spec,
            output_limit=output_limit,
            port=port,
            instruction=launch.instruction,
            paths=self._paths,
        )
        return configure(adapter, settings, launch.frozen.spec, self._paths, self._publish)

    async def _spawn(self, spec: LaunchSpec, configured: Configured) -> AgentProcess | None:
        """The harness, started; None = there was an order to stop before."""
        plan = configured.plan
        job = Job(
            argv=plan.argv,
            env=configured.env,
            cwd=spec.workspace.workdir,
            uid=spec.workspace.uid,
            stdin=plan.stdin,
            hidden=(str(self._paths.run_dir),),
            isolation=spec.sandbox.isolation,
        )
        try:
            agent = await start(job, on_security=self._note_security)
        except (OSError, IsolationError) as error:
            raise refuse(
                "isolation_failed",
                field="sandbox.isolation",
                value=str(error),
                rule="the agent must be kept from the supervisor before it starts",
                remedy="Use a sandbox that allows namespaces inside",
            ) from error
        mode = isolation_mode(spec.sandbox.isolation, agent.checks)
        self._publish(IsolationChecked(mode=mode, checks=agent.checks))
        try:
            self._told.isolation = check_isolation(spec, agent.checks)
        except RefusedError:
            await agent.abandon()
            raise
        if self._stop is not None:
            await agent.abandon()
            return None
        await agent.release()
        self._publish(HarnessStarted(argv=plan.argv, uid=spec.workspace.uid))
        return agent

    def stop(self, stop: Stop) -> None:
        """An order from outside: the broker's, its absence, or the launcher's."""
        if self._stop is None:
            self._stop = stop
        if stop.reason in POINTLESS_TO_VERIFY and not self._pointless.is_set():
            self._late_stop = stop
            self._pointless.set()
        if self._watch is not None:
            self._watch.order(stop)

    def _asked_to_stop(self) -> None:
        self.stop(Stop(reason=StopReason.CANCELLED, detail="the launcher asked"))

    def _wire(self, message: ExchangeSeen | WireEvent) -> None:
        if self._watch is not None:
            self._watch.wire(message)

    def _note_security(self, what: str, detail: str) -> None:
        self._publish(SecurityNoted(what=what, detail=detail))

    async def _send(self, event: Event) -> None:
        """For what is large: wait for room first."""
        await self._control.room(ROOM_BYTES)
        self._publish(event)

    def _claim(self) -> Claim:
        told, end = self._told, self._told.end
        if end is None:
            return Claim(refusal=told.refusal, stop=self._stop, isolation=told.isolation)
        return Claim(
            wait=end.process.wait,
            wait_why=end.process.why,
            stop=end.stop or self._late_stop,
            killed_from_inside=end.process.killed_from_inside,
            session=end.session,
            answers=told.answers,
            progress_age_ms=end.progress_age_ms,
            hung_after_end=end.hung_after_end,
            died_mono_ms=end.process.ended_mono_ms,
            verifier=told.verifier,
            isolation=told.isolation,
            agent_ms=end.agent_ms,
        )

    def _stage(self, name: Stage) -> AbstractContextManager[None]:
        return stage(name, self._publish, self._clock)
