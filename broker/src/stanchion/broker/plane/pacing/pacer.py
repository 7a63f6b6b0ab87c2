"""Decides when the requests of one provider account leave: now, later, or not at all. Pure.

One account has one cool-down: a refusal for its rate holds all its requests back, they leave in
order of arrival, one by one until one was answered. It never makes up an answer, and never sends
anything elsewhere. Times are milliseconds of the caller's monotonic clock; so is the jitter the
caller's, a number from 0 to 1.
"""

from bisect import insort
from dataclasses import dataclass, field
from enum import Enum

from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult

_OWN = frozenset({500, 502, 504, 520, 524})
"""Without a Retry-After they may be this request's own."""
PACED_STATUSES = frozenset({429, 503, 521, 522, 523, 529, 530}) | _OWN
"""52x and 530: a content network did not reach the provider, or waited in vain for its answer
(Cloudflare documentation, "5xx errors")."""
PACED_CLASSES = frozenset(
    {ErrorClass.RATE_LIMITED, ErrorClass.OVERLOADED, ErrorClass.SERVER_ERROR, ErrorClass.CONNECT}
)
"""A used-up quota also comes as 429, and no wait mends it."""

FIRST_BACKOFF_MS = 2_000
LONGEST_BACKOFF_MS = 60_000
SHORTEST_HOLD_MS = 500
"""Also where a provider asks for less, so that it is never asked in a loop."""
PROBE_MS = 2_000
"""After a cool-down the next request waits this long for the answer to the one before it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One sending that another may mend."""

    words: str
    retry_after_ms: int | None
    account_wide: bool
    """Whether it speaks of the account, not of this one request."""


def failure_of(answered: Answered, retry_after_ms: int | None) -> Failure | None:
    """What may be tried again; None = this answer stands.

    What may be this request's own holds nobody else back.
    """
    unreachable = answered.result is ExchangeResult.UPSTREAM_UNREACHABLE
    if unreachable:
        return Failure("the provider cannot be reached", retry_after_ms, account_wide=True)
    if answered.status not in PACED_STATUSES or answered.error_class not in PACED_CLASSES:
        return None
    own = answered.status in _OWN and retry_after_ms is None
    words = f"{answered.status} {answered.error_class}"
    return Failure(words, retry_after_ms, account_wide=not own)


class Verdict(Enum):
    """What becomes of a request that waits, or of one that failed."""

    GO = "go"
    HOLD = "hold"
    HAND_BACK = "hand_back"
    """The harness would stop listening: it gets the failure and asks again by itself."""
    GIVE_UP = "give_up"
    REFUSED = "refused"
    """The account was tripped meanwhile."""


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """One logical call: the same body, asked again and again by one attempt."""

    max_held_ms: int
    """Over all its requests."""
    hold_ms: int
    """From the arrival of one request to the end of its last hold."""
    number: int = 0
    """Of its first request."""
    arrived_ms: int
    """Of its present request."""
    place: int | None = None
    """In the order of arrival; kept when the harness asks again."""
    held_ms: int = 0
    failures: int = 0
    ready_ms: int = 0
    """Not before, for a failure of its own."""
    waiting_since_ms: int | None = None
    started_ms: int = 0

    def held_by(self, now_ms: int) -> int:
        """Time held until now."""
        since = self.waiting_since_ms
        return self.held_ms + (0 if since is None else now_ms - since)

    def patience_ms(self, now_ms: int) -> int:
        """How long its present request may still wait."""
        left = self.max_held_ms - self.held_by(now_ms)
        return max(0, min(left, self.arrived_ms + self.hold_ms - now_ms))

    def out_of_patience(self, now_ms: int) -> Verdict:
        """What becomes of it when its wait was in vain."""
        used_up = self.held_by(now_ms) >= self.max_held_ms
        return Verdict.GIVE_UP if used_up else Verdict.HAND_BACK


@dataclass(slots=True)
class Pacer:
    """One account's."""

    max_in_flight: int
    in_flight: int = 0
    cool_until_ms: int = 0
    cause: str | None = None
    """Why it cools; None = it was answered since."""
    _failures: int = 0
    _cooled_ms: int = -1
    _probe_until_ms: int = 0
    _places: int = 0
    _queue: list[Call] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn."""
        return len(self._queue)

    def wait(self, call: Call, now_ms: int) -> None:
        """Put a request into the queue, at the place where its call first stood."""
        self._place(call)
        call.waiting_since_ms = now_ms
        insort(self._queue, call, key=lambda one: one.place or 0)

    def free(self, call: Call, now_ms: int) -> bool:
        """Whether a request may leave at once, for nothing holds it; it takes a slot then."""
        held = self._queue or self.cause is not None or self.in_flight >= self.max_in_flight
        if held or call.ready_ms > now_ms or now_ms < self.cool_until_ms:
            return False
        self._place(call)
        self.in_flight += 1
        call.started_ms = now_ms
        return True

    def _place(self, call: Call) -> None:
        if call.place is None:
            self._places += 1
            call.place = self._places

    def leave(self, call: Call, now_ms: int) -> None:
        """A request does not wait any more; the time is its call's."""
        if call.waiting_since_ms is not None:
            call.held_ms = call.held_by(now_ms)
            call.waiting_since_ms = None
            self._queue.remove(call)

    def next(self, now_ms: int) -> Call | None:
        """The request whose turn it is; it takes a slot. None = nobody's, see `wake_ms`."""
        if self.in_flight >= self.max_in_flight or now_ms < self._gate_ms:
            return None
        call = next((one for one in self._queue if one.ready_ms <= now_ms), None)
        if call is not None:
            self.leave(call, now_ms)
            self.in_flight += 1
            call.started_ms = now_ms
            if self.cause is not None:
                self._probe_until_ms = now_ms + PROBE_MS
        return call

    @property
    def _gate_ms(self) -> int:
        probe_ms = self._probe_until_ms if self.cause is not None else 0
        return max(self.cool_until_ms, probe_ms)

    @property
    def wake_ms(self) -> int | None:
        """When `next` is worth asking again without any news; None = never."""
        if not self._queue or self.in_flight >= self.max_in_flight:
            return None
        return max(self._gate_ms, min(call.ready_ms for call in self._queue))

    def hopeless(self, now_ms: int) -> list[Call]:
        """Requests that would wait in vain: what was asked for is longer than they may."""
        return [call for call in self._queue if self._too_long(call, now_ms)]

    def why(self, call: Call, now_ms: int) -> str:
        """What a request waits for, in words."""
        if now_ms < self._gate_ms and self.cause is not None:
            return f"the account cools down after {self.cause}"
        if call.ready_ms > now_ms:
            return "another try after a failure"
        return f"{self.in_flight} requests of the account are in flight, {self.max_in_flight} may"

    def accepted(self, call: Call) -> None:
        """The provider answered a request, well or not, but not with a refusal to pace."""
        call.failures = 0
        if call.started_ms > self._cooled_ms:
            self._failures = 0
            self.cause = None

    def released(self) -> None:
        """A request is over: its slot is free."""
        self.in_flight -= 1

    def failed(self, call: Call, failure: Failure, *, now_ms: int, jitter: float) -> Verdict:
        """A sending failed; it has given its slot back. HOLD = put it into the queue again."""
        call.failures += 1
        if failure.account_wide:
            if call.started_ms > self._cooled_ms:
                self._failures += 1  # several that left together and failed together count once
            until_ms = now_ms + _delay_ms(failure, self._failures, jitter)
            self.cool_until_ms = max(self.cool_until_ms, until_ms)
            self._cooled_ms = now_ms
            self.cause = failure.words
        else:
            call.ready_ms = now_ms + _delay_ms(failure, call.failures, jitter)
        if self._too_long(call, now_ms):
            return Verdict.GIVE_UP
        return Verdict.HOLD if call.patience_ms(now_ms) > 0 else call.out_of_patience(now_ms)

    def _too_long(self, call: Call, now_ms: int) -> bool:
        until_ms = max(self.cool_until_ms, call.ready_ms)
        return until_ms > now_ms and until_ms - now_ms > call.max_held_ms - call.held_by(now_ms)


def _delay_ms(failure: Failure, failures: int, jitter: float) -> int:
    if failure.retry_after_ms is not None:
        return max(failure.retry_after_ms, SHORTEST_HOLD_MS)
    whole_ms = min(FIRST_BACKOFF_MS * (1 << min(failures - 1, 16)), LONGEST_BACKOFF_MS)
    return round(whole_ms / 2 + whole_ms / 2 * jitter)
