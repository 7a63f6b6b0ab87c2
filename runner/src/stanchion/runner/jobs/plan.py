"""From a frozen job and the attempts on the disk to what is to be done next. Pure.

Called again after every change, and after a crash from nothing but the disk: it never starts what
was started, never forgets an attempt that began, and lets no failure of one keep others waiting.
Coverage comes before depth: each task's first attempt before any task's second.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from stanchion.protocol.outcome import Retry

BACKOFF_MS = (60_000, 300_000, 900_000)
"""Before the first, the second and every later retry that is to wait."""

Key = tuple[str, int]
"""A task's name and the number of an attempt."""


class State(StrEnum):
    """What the disk says of one attempt."""

    EMPTY = "empty"
    """A folder and nothing else: no keeper ever got the order."""
    RUNNING = "running"
    """Its keeper lives."""
    ENDED = "ended"
    """It has a result."""
    LOST = "lost"
    """Its keeper is gone and left no result."""
    NOT_OPENED = "not_opened"
    """The broker did not take it; nothing ran, and its number is free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One attempt on the disk."""

    task: str
    number: int
    state: State
    retry_of: int | None = None
    scored: bool = False
    retry: Retry = Retry.NEVER
    ended_at_ms: int | None = None

    @property
    def key(self) -> Key:
        return self.task, self.number


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part of a job that planning needs."""

    tasks: tuple[str, ...]
    attempts: int
    retries: int
    concurrency: int
    backoff_ms: tuple[int, ...] = BACKOFF_MS


@dataclass(frozen=True, slots=True)
class Start:
    """Start an attempt with this number."""

    task: str
    number: int
    retry_of: int | None = None

    @property
    def key(self) -> Key:
        return self.task, self.number


@dataclass(frozen=True, slots=True)
class Attach:
    """Watch an attempt that another process started."""

    task: str
    number: int

    @property
    def key(self) -> Key:
        return self.task, self.number


@dataclass(frozen=True, slots=True)
class Explain:
    """Write the result of an attempt whose keeper cannot do it any more."""

    task: str
    number: int

    @property
    def key(self) -> Key:
        return self.task, self.number


Action = Start | Attach | Explain


@dataclass(frozen=True, slots=True)
class Session:
    """What this process has in hand; nothing of it outlives the process."""

    busy: Collection[Action] = ()
    """What it is doing: attempts that are being started, watched or explained."""
    given_up: Collection[Key] = ()
    """Attempts that could not be started or explained and are not to be tried again here."""
    given_up_tasks: Collection[str] = ()
    """Tasks whose launch itself was refused."""
    again: Collection[Key] = ()
    """Attempts of an earlier process that an operator stopped, or an account that has been mended
    since: repeated whatever their own advice is."""
    stopped: bool = False
    """Nothing new is to start; what runs is still watched to its end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now."""

    actions: tuple[Action, ...]
    wake_at_ms: int | None = None
    """When a retry that has to wait becomes due."""
    unfinished: tuple[Key, ...] = ()
    """Planned attempts without a final result, startable or not."""


@dataclass(slots=True)
class _Slot:
    """One planned attempt with its retries, oldest first."""

    task: str
    number: int
    chain: list[Seen] = field(default_factory=list)

    @property
    def last(self) -> Seen | None:
        return self.chain[-1] if self.chain else None

    @property
    def key(self) -> Key:
        """Of the newest attempt, else of the one to come."""
        return self.last.key if self.last else (self.task, self.number)

    @property
    def state(self) -> State | None:
        return self.last.state if self.last else None


def make_plan(wanted: Wanted, seen: Sequence[Seen], session: Session, *, now_ms: int) -> Plan:
    """The next actions; doing them and asking again comes to an end."""
    busy = {action.key for action in session.busy}
    seen = _with_begun(seen, session.busy)
    rescue: list[Attach | Explain] = []
    starts: list[Start] = []
    waits: list[int] = []
    unfinished: list[Key] = []
    numbers = _NextNumbers(wanted, seen)
    for slot in _slots(wanted, seen):
        if _is_final(slot, wanted, session.again):
            continue
        unfinished.append(slot.key)
        if slot.key in busy:
            continue
        if slot.state is State.RUNNING:
            rescue.append(Attach(*slot.key))
        elif slot.key in session.given_up:
            continue
        elif slot.state is State.LOST:
            rescue.append(Explain(*slot.key))
        elif not session.stopped and slot.task not in session.given_up_tasks:
            due_ms = _due_ms(slot, wanted, session.again)
            if due_ms > now_ms:
                waits.append(due_ms)
            else:
                starts.append(_start(slot, numbers))
    attached = sum(isinstance(action, Attach) for action in rescue)
    room = max(0, wanted.concurrency - len(busy) - attached)
    return Plan(
        actions=(*rescue, *starts[:room]),
        wake_at_ms=min(waits, default=None),
        unfinished=tuple(unfinished),
    )


def _with_begun(seen: Sequence[Seen], busy: Collection[Action]) -> list[Seen]:
    """The disk, with what was begun and is not to be seen there yet."""
    there = {one.key for one in seen}
    begun = [
        Seen(task=action.task, number=action.number, state=State.RUNNING, retry_of=action.retry_of)
        for action in busy
        if isinstance(action, Start) and action.key not in there
    ]
    return [*seen, *begun]


def latest(seen: Sequence[Seen]) -> list[Seen]:
    """The attempts that no other one retries: one for each planned attempt that has begun."""
    retried = {(one.task, one.retry_of) for one in seen}
    return [one for one in seen if one.key not in retried]


def _slots(wanted: Wanted, seen: Sequence[Seen]) -> list[_Slot]:
    """Every planned attempt, first attempts of all tasks before second ones."""
    by_key: Mapping[Key, Seen] = {one.key: one for one in seen}
    retry_of = {(one.task, one.retry_of): one for one in seen if one.retry_of is not None}
    slots = []
    for number in range(1, wanted.attempts + 1):
        for task in wanted.tasks:
            slot = _Slot(task, number)
            one = by_key.get((task, number))
            while one is not None:
                slot.chain.append(one)
                one = retry_of.get(one.key)
            slots.append(slot)
    return slots


def _is_final(slot: _Slot, wanted: Wanted, again: Collection[Key]) -> bool:
    last = slot.last
    if last is None or last.state is not State.ENDED:
        return False
    if last.scored or last.key in again:
        return last.scored
    tries = sum(one.key not in again for one in slot.chain)
    return last.retry is Retry.NEVER or tries > wanted.retries


def _due_ms(slot: _Slot, wanted: Wanted, again: Collection[Key]) -> int:
    last = slot.last
    if last is None or last.state is not State.ENDED or last.key in again:
        return 0
    if last.retry is not Retry.AFTER_BACKOFF:
        return 0
    step = min(len(slot.chain), len(wanted.backoff_ms)) - 1
    return (last.ended_at_ms or 0) + wanted.backoff_ms[step]


class _NextNumbers:
    """Numbers of retries: above all planned ones and all that were ever used."""

    def __init__(self, wanted: Wanted, seen: Sequence[Seen]) -> None:
        self._last = dict.fromkeys(wanted.tasks, wanted.attempts)
        for task, number in (one.key for one in seen):
            if task in self._last:
                self._last[task] = max(self._last[task], number)

    def take(self, task: str) -> int:
        self._last[task] += 1
        return self._last[task]


def _start(slot: _Slot, numbers: _NextNumbers) -> Start:
    last = slot.last
    if last is None:
        return Start(slot.task, slot.number)
    if last.state is State.ENDED:
        return Start(slot.task, numbers.take(slot.task), retry_of=last.number)
    return Start(last.task, last.number, retry_of=last.retry_of)
