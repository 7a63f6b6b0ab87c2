"""Durable receipts: a record is handed back only after it is on the disk.

The shell around the pure chain: it fills in the clock, orders concurrent appends, and owns the
databases and keys of one state folder. It never writes a record that the chain refuses, and after
a failed write a book refuses every further record, because nobody knows what is on the disk.
"""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from stanchion.broker.receipts.bundle import Broken, verify
from stanchion.broker.receipts.chain import NOTHING, Chain, ChainError, Written, build_header
from stanchion.broker.receipts.checkpoint import build_checkpoint
from stanchion.broker.receipts.event_store import EventStore
from stanchion.broker.receipts.event_tables import EVENTS_FILE
from stanchion.broker.receipts.job_ledger import JobLedger
from stanchion.broker.receipts.signing import Keys, load_or_create_keys
from stanchion.broker.receipts.store import CONTROL_FILE, RunStore
from stanchion.broker.receipts.writer import LedgerError
from stanchion.protocol.codec import encode
from stanchion.protocol.ids import parse_attempt_id, split_attempt_id
from stanchion.protocol.overview import Checkpoint
from stanchion.protocol.receipt import Record, RunClose
from stanchion.protocol.refusal import refuse

__all__ = ["Book", "ChainError", "Ledger", "LedgerError"]

R = TypeVar("R", bound=msgspec.Struct)
Clock = Callable[[], int]


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Book:
    """The receipts of one open attempt."""

    def __init__(
        self, attempt_id: str, chain: Chain, *, store: RunStore, keys: Keys, now_ms: Clock
    ) -> None:
        self.attempt_id = attempt_id
        self._chain = chain
        self._store = store
        self._keys = keys
        self._now_ms = now_ms
        self._failed: LedgerError | None = None

    @property
    def head(self) -> str:
        """Digest of the last line, hex."""
        return self._chain.head

    @property
    def records(self) -> int:
        """Records so far, without the header."""
        return self._chain.records

    @property
    def exchanges(self) -> int:
        """Exchanges that were started."""
        return self._chain.exchanges

    @property
    def unended(self) -> tuple[int, ...]:
        """Exchanges that were started and have no end yet."""
        return self._chain.unended

    @property
    def closed(self) -> bool:
        return self._chain.closed

    async def append(self, kind: type[R], *, written: Written = NOTHING, **fields: object) -> R:
        """Write the next record; `seq`, `prev` and `at_ms` are filled in here.

        `written`: members that were encoded before, by name.

        Returns once the record is durable. Concurrent calls keep the order in which they were made.
        LedgerError: it is not durable (disk full, read only) and nothing more can be written to
        this book. ChainError: it may not stand here, and nothing was written.
        """
        self._writable()
        record, line = self._chain.append(kind, at_ms=self._now_ms(), written=written, **fields)
        await self._store_line(line)
        return record

    async def close(
        self,
        *,
        reason: str,
        detail: str,
        flags: tuple[str, ...],
        grade: str,
        score: str | None,
        reward_sha256: str | None,
        exchanges: int | None = None,
    ) -> RunClose:
        """Write the signed last record. `exchanges` is counted here; another number is refused."""
        self._writable()
        record, line = self._chain.close(
            signer=self._keys,
            at_ms=self._now_ms(),
            reason=reason,
            detail=detail,
            flags=flags,
            grade=grade,
            score=score,
            reward_sha256=reward_sha256,
            exchanges=self._chain.exchanges if exchanges is None else exchanges,
        )
        await self._store_line(line)
        return record

    def bundle(self) -> bytes:
        """The bundle file as it is durable now. Reads the disk; any thread may call it."""
        return _bundle(self._store.receipt_lines(self.attempt_id))

    def _writable(self) -> None:
        if self._failed is not None:
            raise LedgerError(
                f"receipts of attempt {self.attempt_id} stopped at a failed write: {self._failed}"
            )
        if self._chain.closed:
            raise LedgerError(f"receipts of attempt {self.attempt_id} are closed")

    async def _store_line(self, line: bytes) -> None:
        try:
            await self._store.append_receipt(self.attempt_id, self._chain.records, line)
        except LedgerError as error:
            self._failed = error
            raise


class Ledger:
    """All receipts, runs, tokens and events of one state folder."""

    def __init__(
        self, *, store: RunStore, events: EventStore, keys: Keys, now_ms: Clock, lock: int
    ) -> None:
        self.store = store
        self.events = events
        self.jobs = JobLedger(store=store, signer=keys, now_ms=now_ms)
        self._keys = keys
        self._now_ms = now_ms
        self._lock = lock

    @classmethod
    async def open(
        cls, state_dir: Path, *, now_ms: Clock = wall_ms, host_boot: str | None = None
    ) -> "Ledger":
        """Open or make the databases and keys below `state_dir`/broker.

        `host_boot` names the time since the machine's start: within it no event is ever lost.

        RefusedError: another broker has them open. LedgerError: they cannot be used. KeyFileError:
        a key.
        """
        folder = state_dir / "broker"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _lock(folder / "ledger.lock")
        try:
            keys = load_or_create_keys(folder)
            store = RunStore(folder / CONTROL_FILE)
            try:
                events = EventStore(folder / EVENTS_FILE, host_boot=host_boot)
            except Exception:
                await store.aclose()
                raise
        except BaseException:  # the wait in it may be cancelled
            os.close(lock)
            raise
        return cls(store=store, events=events, keys=keys, now_ms=now_ms, lock=lock)

    async def aclose(self) -> None:
        """Make all that was handed over durable, and let go of the folder."""
        try:
            await self.events.aclose()
        finally:
            try:
                await self.store.aclose()
            finally:
                os.close(self._lock)

    @property
    def public_key(self) -> str:
        """64 hex digits; signs every header and close."""
        return self._keys.public_key

    def fingerprint(self, secret: str) -> str:
        """HMAC-SHA256 of a provider key under the key of this installation, hex."""
        return self._keys.fingerprint(secret)

    async def begin(self, attempt_id: str, *, holds_bodies: bool = False) -> Book:
        """Start the receipts of a new attempt; LedgerError where it has some."""
        run, attempt = split_attempt_id(parse_attempt_id(attempt_id))
        line = encode(
            build_header(run=run, attempt=attempt, holds_bodies=holds_bodies, signer=self._keys)
        )
        await self.store.begin_receipts(attempt_id, line)
        return self._book(attempt_id, Chain(line))

    async def resume(self, attempt_id: str) -> tuple[Book, tuple[Record, ...]]:
        """The receipts of an attempt that a former broker wrote, to go on with them.

        A book that was closed takes no further record. LedgerError: they do not verify.
        """
        lines = self.store.receipt_lines(attempt_id)
        if not lines:
            raise LedgerError(f"attempt {attempt_id} has no receipts to resume")
        chain = Chain(lines[0])
        records: tuple[Record, ...] = ()
        if len(lines) > 1:
            found = verify(_bundle(lines))
            if isinstance(found, Broken):
                raise LedgerError(
                    f"receipts of attempt {attempt_id} do not verify, record {found.line - 1}: "
                    f"{found.why}"
                )
            if found.header.public_key != self.public_key:
                raise LedgerError(f"receipts of attempt {attempt_id} were signed by another key")
            records = found.records
            for record, line in zip(records, lines[1:], strict=True):
                chain.admit(record, line)
        return self._book(attempt_id, chain), records

    def bundle(self, attempt_id: str) -> bytes | None:
        """The bundle file of any attempt as it is durable now; None = it has no record yet."""
        lines = self.store.receipt_lines(attempt_id)
        return _bundle(lines) if len(lines) > 1 else None

    def checkpoint(self, at_ms: int) -> Checkpoint:
        """The heads of all chains as they are durable now, signed; any thread may call it."""
        return build_checkpoint(self.store.heads(), at_ms=at_ms, signer=self._keys)

    def _book(self, attempt_id: str, chain: Chain) -> Book:
        return Book(attempt_id, chain, store=self.store, keys=self._keys, now_ms=self._now_ms)


def _bundle(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _lock(file: Path) -> int:
    """Take the folder; the kernel lets go of it when the process ends, however it ends."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise refuse(
            "broker_running",
            field="--state-dir",
            value=file.parent.parent,
            rule="one broker at a time works on a state folder, "
            f"and pid {holder or 'unknown'} does on this one",
            remedy="Use that one, end it with `stanchion broker stop`, or name another folder",
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
