"""What a played row leaves behind for tests that need no harness: its evidence and its tape.

Written by `make faults-record` beside the rows, and read by `test_recorded`. The evidence is what
the broker decided from: the claim of the sandbox and the facts of the host as they were published,
and the wire as its receipts say. A tape is what the watchdog observed, without its ticks.
"""

import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import msgspec

from conformance.faults.rows import Row
from stanchion.broker.attempts.replaying import replay
from stanchion.broker.client import BrokerClient
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.admin import RunView
from stanchion.protocol.events import Claimed, Event, HostReported, decode_event
from stanchion.protocol.evidence import Evidence as AttemptEvidence
from stanchion.protocol.evidence import HostFacts, Stop
from stanchion.protocol.launch import Policy, WatchdogLimits
from stanchion.protocol.outcome import Graded
from stanchion.supervisor import evidence as kinds
from stanchion.supervisor.evidence import Evidence, Tick
from stanchion.supervisor.watchdog import MOST_CREDIT_MS, Watchdog

FOLDER = Path(__file__).parent / "recorded"
WANTED = bool(os.environ.get("STANCHION_FAULTS_RECORD"))


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that the watchdog observed."""

    at_ms: int
    what: str
    fields: dict[str, object]
    jumped: bool = False
    """The clock was ahead from one moment to the next: no ticks came before this."""


class Tape(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, from its start to its end."""

    limits: WatchdogLimits
    agent_s: int
    ended_ms: int
    stop: Stop | None
    seen: tuple[Seen, ...]


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One row."""

    provenance: str
    evidence: AttemptEvidence
    graded: Graded
    tape: Tape | None = None


class TapedWatchdog(Watchdog):
    """Keeps what it observed; decides as ever."""

    made: list["TapedWatchdog"] = []  # noqa: RUF012 - the one that is running is the last

    def __init__(self, limits: WatchdogLimits, *, agent_s: int, started_ms: int) -> None:
        super().__init__(limits, agent_s=agent_s, started_ms=started_ms)
        self.began_ms, self.last_ms = started_ms, started_ms
        self.seen: list[Seen] = []
        self.made.append(self)

    def observe(self, evidence: Evidence, at_ms: int) -> Stop | None:
        """And keep it."""
        jumped = at_ms - self.last_ms > MOST_CREDIT_MS
        self.last_ms = at_ms
        if (jumped or not isinstance(evidence, Tick)) and self.stop is None:
            what = type(evidence).__name__
            fields = dict(_fields(evidence))
            since_ms = at_ms - self.began_ms
            self.seen.append(Seen(at_ms=since_ms, what=what, fields=fields, jumped=jumped))
        return super().observe(evidence, at_ms)

    def tape(self) -> Tape:
        """All of it."""
        return Tape(
            limits=self.limits,
            agent_s=self.agent_s,
            ended_ms=self.last_ms - self.began_ms,
            stop=self.stop,
            seen=tuple(self.seen),
        )


def _fields(evidence: Evidence) -> Iterable[tuple[str, object]]:
    return ((name, msgspec.to_builtins(value)) for name, value in vars_of(evidence).items())


def vars_of(evidence: Evidence) -> dict[str, object]:
    """Fields of a frozen dataclass, structs in them left as they are."""
    return {name: getattr(evidence, name) for name in evidence.__dataclass_fields__}


def evidence_of(seen: Seen) -> Evidence:
    """What it was."""
    kind: type[Evidence] = getattr(kinds, seen.what)
    return msgspec.convert(seen.fields, kind)


async def record(row: Row, broker: BrokerClient, view: RunView, tape: Tape | None) -> None:
    """Write the row's recording."""
    found = verify(await broker.bundle(view.id))
    assert isinstance(found, Verified), found
    wire = replay(found.records, view.launch.spec).wire
    events = [event async for event in _events(broker, view.id)]
    spec = view.launch.spec
    assert view.graded is not None
    recording = Recording(
        provenance=f"make faults-record, {row.harness}",
        evidence=AttemptEvidence(
            claim=next((one.claim for one in events if isinstance(one, Claimed)), None),
            host=next((one.host for one in events if isinstance(one, HostReported)), HostFacts()),
            wire=wire.facts(enforced=view.launch.policy is Policy.ENFORCE),
            model_asked=spec.model.id,
            effort_declared=spec.effort.word is not None,
            isolation_asked=spec.sandbox.isolation,
            answers_declared=spec.workspace.answers is not None,
        ),
        graded=view.graded,
        tape=tape,
    )
    FOLDER.mkdir(exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(recording), indent=1)
    (FOLDER / f"{row.name}.json").write_bytes(text + b"\n")


async def _events(broker: BrokerClient, run: str) -> AsyncIterator[Event]:
    after = None
    while (page := await broker.events(run, after=after)).entries:
        after = page.cursor
        for entry in page.entries:
            yield decode_event(entry.event)


def read(row: Row) -> Recording:
    """The row's recording."""
    return msgspec.json.decode((FOLDER / f"{row.name}.json").read_bytes(), type=Recording)
