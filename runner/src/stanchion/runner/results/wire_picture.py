"""What a bundle of receipts shows at a glance: counts over its exchanges. Pure.

For people who read a result. Verifies nothing, which is `audit`'s business, and passes over lines
of a later version; what was not counted is None.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from stanchion.protocol.exchange import Answered, Asked, ExchangeResult
from stanchion.protocol.launch import FrozenLaunch
from stanchion.protocol.receipt import (
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    HostRecorded,
    Record,
    RunClose,
    RunOpen,
    RunStarted,
)

CUT_OFF = frozenset(
    {ExchangeResult.CLIENT_GONE, ExchangeResult.REVOKED, ExchangeResult.INTERRUPTED}
)
"""Ended from our side: no failure of the provider's."""
_records = msgspec.json.Decoder(Record)


@dataclass(slots=True)
class WirePicture:
    """Counts over the main requests of one attempt; side requests are left out.

    Only calls and sendings are over all of them: what leaves may have to be paid.
    """

    launch: FrozenLaunch | None = None
    records: int = 0
    requests: int = 0
    limits: Counter[int | None] = field(default_factory=Counter)
    """As sent, in order of first sight."""
    efforts: Counter[str | None] = field(default_factory=Counter)
    asked: Counter[str | None] = field(default_factory=Counter)
    served: Counter[str | None] = field(default_factory=Counter)
    corrections: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    completed: int = 0
    reasoning: int = 0
    """Completed responses with reasoning."""
    reasoning_unknown: int = 0
    usage_known: int = 0
    calls: int = 0
    """Logical calls; a request that the pacer handed back and the harness repeats is none."""
    sendings: int = 0
    """How often requests left, each try counted, as far as it is on record."""
    ambiguous: int = 0
    """Sendings of which nobody knows whether the provider processed them."""
    held: int = 0
    """Requests that the broker held."""
    last: list[Answered] = field(default_factory=list)
    """The unbroken row of failures at the end."""
    peak_bytes: int | None = None
    started: RunStarted | None = None
    host: HostRecorded | None = None
    close: RunClose | None = None


def picture(bundle: bytes) -> WirePicture:
    """The counts over a bundle, whole or not."""
    counting = _Counting()
    for record in _read(bundle):
        counting.take(record)
    return counting.found


@dataclass(slots=True)
class _Counting:
    """From record to record."""

    found: WirePicture = field(default_factory=WirePicture)
    main: set[int] = field(default_factory=set)
    """Main requests so far."""
    tried: Counter[int] = field(default_factory=Counter)
    """Sendings on record as failed, by request."""

    def take(self, record: Record | None) -> None:
        found = self.found
        found.records += 1
        match record:
            case RunOpen(launch=launch):
                found.launch = launch
            case RunStarted():
                found.started = record
            case ExchangeStart() | ExchangeTry() | ExchangeEnd():
                self.exchange(record)
            case HostRecorded(host=host):
                found.host, found.peak_bytes = record, host.memory_peak_bytes
            case RunClose():
                found.close = record
            case _:
                pass

    def exchange(self, record: ExchangeStart | ExchangeTry | ExchangeEnd) -> None:
        found, number = self.found, record.exchange
        match record:
            case ExchangeStart(call=call, side=side):
                found.calls += call in {None, number}
                if side is None:
                    self.main.add(number)
                    _count_request(found, record.sent, record.corrections)
            case ExchangeTry(ambiguous=ambiguous):
                self.tried[number] += 1
                _count_sending(found, ambiguous=ambiguous)
            case ExchangeEnd(answered=answered, tries=tries):
                found.held += record.held_ms > 0
                if tries > self.tried[number]:
                    _count_sending(found, ambiguous=answered.ambiguous)
                if number in self.main:
                    _count_answer(found, answered)


def _read(bundle: bytes) -> Iterator[Record | None]:
    """Every record after the header; None for one of a later version."""
    for line in bundle.splitlines()[1:]:
        try:
            yield _records.decode(line)
        except msgspec.DecodeError:
            yield None


def _count_request(found: WirePicture, sent: Asked, corrections: tuple[str, ...]) -> None:
    found.requests += 1
    found.limits[sent.output_limit] += 1
    found.efforts[sent.effort] += 1
    found.asked[sent.model] += 1
    found.corrections.update(corrections)


def _count_sending(found: WirePicture, *, ambiguous: bool) -> None:
    found.sendings += 1
    found.ambiguous += ambiguous


def _count_answer(found: WirePicture, answered: Answered) -> None:
    found.ended += 1
    usage = answered.usage
    found.usage_known += usage is not None and usage.output_tokens is not None
    if answered.result in CUT_OFF:
        return
    if answered.result is not ExchangeResult.COMPLETED:
        found.last.append(answered)
        return
    found.last.clear()
    found.completed += 1
    found.served[answered.model_served] += 1
    found.reasoning += answered.reasoning_present is True
    found.reasoning_unknown += answered.reasoning_present is None
