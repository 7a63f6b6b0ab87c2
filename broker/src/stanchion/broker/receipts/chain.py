"""The hash chain of one attempt: which record may follow, and what its bytes are.

Pure. The same rules write a chain and check one, so that the broker cannot write what its auditor
would refuse. A line's digest is SHA-256 over its bytes without the line end.
"""

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar, cast

import msgspec

from stanchion.broker.receipts.ed25519 import Signer
from stanchion.protocol.codec import decode, encode, encode_with
from stanchion.protocol.receipt import (
    BUNDLE_FORMAT,
    BUNDLE_VERSION,
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    Header,
    Record,
    RunClose,
    RunOpen,
)

R = TypeVar("R", bound=msgspec.Struct)
Written = Mapping[str, msgspec.Raw]
"""Members of a record that were encoded before, by name."""
NOTHING: Written = MappingProxyType({})


class ChainError(ValueError):
    """A record that may not stand where it was put."""


def line_digest(line: bytes) -> str:
    """What the next line carries in `prev`."""
    return hashlib.sha256(line).hexdigest()


def signed_bytes(message: Header | RunClose) -> bytes:
    """What the signature in a header or close is over: all of it, with an empty signature."""
    return encode(msgspec.structs.replace(message, signature=""))


def build_header(*, run: str, attempt: int, holds_bodies: bool, signer: Signer) -> Header:
    """The signed first line."""
    header = Header(
        format=BUNDLE_FORMAT,
        version=BUNDLE_VERSION,
        run=run,
        attempt=attempt,
        public_key=signer.public_key,
        holds_bodies=holds_bodies,
        signature="",
    )
    return msgspec.structs.replace(header, signature=signer.sign(encode(header)))


class Chain:
    """Where a chain stands: its head, and which records may come next."""

    def __init__(self, header_line: bytes) -> None:
        self.head = line_digest(header_line)
        self.records = 0
        self.closed = False
        self._started: set[int] = set()
        self._ended: set[int] = set()
        self._tries: dict[int, int] = {}

    @property
    def exchanges(self) -> int:
        """Model requests that were started."""
        return len(self._started)

    @property
    def unended(self) -> tuple[int, ...]:
        """Exchanges with a start and no end: nobody knows how they ended."""
        return tuple(sorted(self._started - self._ended))

    def admit(self, record: Record, line: bytes) -> None:
        """Take the record with these bytes as the next one; ChainError says why not."""
        why = self._position(record) or self._order(record)
        if why is not None:
            raise ChainError(why)
        if isinstance(record, ExchangeStart):
            self._started.add(record.exchange)
        elif isinstance(record, ExchangeTry):
            self._tries[record.exchange] = record.number
        elif isinstance(record, ExchangeEnd):
            self._ended.add(record.exchange)
        self.closed = isinstance(record, RunClose)
        self.records += 1
        self.head = line_digest(line)

    def _position(self, record: Record) -> str | None:
        if record.seq != self.records + 1:
            return f"record {self.records + 1} says it is record {record.seq}"
        if record.prev != self.head:
            return f"record {record.seq} does not follow the line before it"
        return None

    def _order(self, record: Record) -> str | None:
        """Which rule of the order it breaks."""
        if self.closed:
            return "a record follows the close"
        if isinstance(record, RunOpen) is not (self.records == 0):
            return "the terms of the run (run.open) must be the first record, and only that"
        if isinstance(record, ExchangeStart):
            started = record.exchange in self._started
            return f"exchange {record.exchange} starts twice" if started else None
        if isinstance(record, ExchangeEnd):
            return self._end_order(record)
        if isinstance(record, ExchangeTry):
            return self._try_order(record)
        return self._close_order(record) if isinstance(record, RunClose) else None

    def _close_order(self, record: RunClose) -> str | None:
        counted = (self.records, self.exchanges)
        if (record.records, record.exchanges) == counted:
            return None
        return f"the close does not count {counted[0]} records and {counted[1]} exchanges"

    def _try_order(self, record: ExchangeTry) -> str | None:
        number, tried = record.exchange, self._tries.get(record.exchange, 0)
        if number not in self._started or number in self._ended:
            return f"exchange {number} is tried outside of its start and end"
        if record.number != tried + 1:
            return f"exchange {number} has another try than number {tried + 1} next"
        return None

    def _end_order(self, record: ExchangeEnd) -> str | None:
        number, tried = record.exchange, self._tries.get(record.exchange, 0)
        if record.tries not in {tried, tried + 1}:
            return f"exchange {number} does not end with its {tried} recorded tries or one more"
        if number not in self._started:
            return f"exchange {number} ends without a start"
        return f"exchange {number} ends twice" if number in self._ended else None

    def append(
        self, kind: type[R], *, at_ms: int, written: Written = NOTHING, **fields: object
    ) -> tuple[R, bytes]:
        """Build the next record and admit it; its bytes come without a line end.

        `written`: members that were encoded before.
        """
        build = cast("Callable[..., R]", kind)
        record = build(seq=self.records + 1, prev=self.head, at_ms=at_ms, **fields)
        return self._take(record, written)

    def close(self, *, signer: Signer, at_ms: int, **fields: object) -> tuple[RunClose, bytes]:
        """Build the signed close and admit it."""
        build = cast("Callable[..., RunClose]", RunClose)
        draft = build(
            seq=self.records + 1,
            prev=self.head,
            at_ms=at_ms,
            records=self.records,
            signature="",
            **fields,
        )
        return self._take(
            msgspec.structs.replace(draft, signature=signer.sign(signed_bytes(draft)))
        )

    def _take(self, record: R, written: Written = NOTHING) -> tuple[R, bytes]:
        line = encode_with(record, written) if written else encode(record)
        # A record that could not be read back (a float, a wrong type) must not get into a chain.
        if decode(line, type(record)) != record:
            raise ChainError(f"{type(record).__name__} does not read back as it was written")
        self.admit(cast("Record", record), line)
        return record, line
