"""The completed responses of a bundle of receipts, each with what is on record of it. Pure.

Verifies nothing, which is `audit`'s business; passes over lines of a later version.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from stanchion.protocol.call_match import SentCalls
from stanchion.protocol.exchange import Answered, Asked, ExchangeResult
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, Record, RunClose, RunOpen
from stanchion.protocol.usage import Usage

_records = msgspec.json.Decoder(Record)


@dataclass(frozen=True, slots=True)
class Response:
    """One completed response to a main request."""

    exchange: int
    session: str | None
    """The session that the harness named in a header."""
    sent: Asked
    answered: Answered
    corrections: tuple[str, ...]
    tries: int
    held_ms: int
    record_sha256: str
    """Of the line of its end, which the next line of the bundle carries in `prev`."""


@dataclass(slots=True)
class Wire:
    """What of a bundle a trajectory needs."""

    opening: RunOpen | None = None
    closing: RunClose | None = None
    responses: list[Response] = field(default_factory=list)

    @property
    def sent_calls(self) -> list[SentCalls]:
        """For the comparison with the conversation."""
        return [
            SentCalls(
                exchange=one.exchange,
                calls=one.answered.tool_calls,
                ids=one.answered.tool_call_ids,
            )
            for one in self.responses
        ]


def read_wire(bundle: bytes) -> Wire:
    """The main exchanges that were answered whole, in the order in which they began."""
    wire, starts, ends = Wire(), dict[int, ExchangeStart](), dict[int, Response]()
    for sha256, record in _read(bundle):
        match record:
            case RunOpen():
                wire.opening = record
            case RunClose():
                wire.closing = record
            case ExchangeStart(side=None):
                starts[record.exchange] = record
            case ExchangeEnd(answered=answered, exchange=number):
                start = starts.get(number)
                if start is not None and answered.result is ExchangeResult.COMPLETED:
                    ends[number] = _response(start, record, sha256)
            case _:
                pass
    wire.responses = [ends[number] for number in starts if number in ends]
    return wire


def _response(start: ExchangeStart, end: ExchangeEnd, sha256: str) -> Response:
    return Response(
        exchange=end.exchange,
        session=start.session,
        sent=start.sent,
        answered=end.answered,
        corrections=start.corrections,
        tries=end.tries,
        held_ms=end.held_ms,
        record_sha256=sha256,
    )


def _read(bundle: bytes) -> Iterator[tuple[str, Record]]:
    for line in bundle.splitlines()[1:]:
        try:
            yield hashlib.sha256(line).hexdigest(), _records.decode(line)
        except msgspec.DecodeError:
            continue


def prompt_tokens(answered: Answered) -> int | None:
    """All input, cached or not; None where the provider's count leaves that open."""
    usage = answered.usage or Usage()
    if answered.input_includes_cache is False:
        return _sum(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    cached = usage.cache_read_tokens or usage.cache_write_tokens
    known = answered.input_includes_cache is True or not cached
    return usage.input_tokens if known else None


def completion_tokens(answered: Answered) -> int | None:
    """All output, reasoning too; None where the provider's count leaves that open."""
    usage = answered.usage or Usage()
    if answered.output_includes_reasoning is False:
        return _sum(usage.output_tokens, usage.reasoning_tokens)
    known = answered.output_includes_reasoning is True or not usage.reasoning_tokens
    return usage.output_tokens if known else None


def _sum(first: int | None, *more: int | None) -> int | None:
    """A part that was not reported is none that the provider counts; the figure itself must be."""
    return None if first is None else first + sum(part or 0 for part in more)
