"""Reads a receipts bundle and checks that every byte of it is as it was signed.

Pure: bytes in, a verified bundle or the first thing that is wrong out. It trusts no key; whose
signature it is, is decided elsewhere. Nothing in a bundle may relax a check, and what this version
does not know is refused, never skipped.
"""

from dataclasses import dataclass

import msgspec

from stanchion.broker.receipts.chain import Chain, ChainError, signed_bytes
from stanchion.broker.receipts.ed25519 import holds
from stanchion.broker.receipts.exact import FaultError, exact
from stanchion.protocol.codec import digest
from stanchion.protocol.ids import run_id
from stanchion.protocol.receipt import (
    BUNDLE_FORMAT,
    BUNDLE_VERSION,
    Header,
    Record,
    RunClose,
    RunOpen,
)

_header_decoder = msgspec.json.Decoder(Header)
_record_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle without a fault; it may still lack its close."""

    header: Header
    opening: RunOpen
    records: tuple[Record, ...]
    """All of them, the opening and the close included."""
    closing: RunClose | None
    """None = incomplete: nobody knows what is missing."""
    unended: tuple[int, ...]
    """Exchanges with a start and no end."""
    head: str
    """Digest of the last line."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first fault of a bundle."""

    line: int
    """From 1."""
    why: str


def verify(data: bytes) -> Verified | Broken:
    """Check a whole bundle."""
    if not data.endswith(b"\n"):
        return Broken(data.count(b"\n") + 1, "the file does not end with a line end")
    lines = data[:-1].split(b"\n")
    records: list[Record] = []
    number = 1
    try:
        header = _header(lines[0])
        chain = Chain(lines[0])
        for line in lines[1:]:
            number = len(records) + 2
            record = _record(line, header)
            chain.admit(record, line)
            records.append(record)
    except (FaultError, ChainError) as fault:
        return Broken(number, str(fault))
    if not records or not isinstance(records[0], RunOpen):
        return Broken(number, "the bundle has no records")
    return Verified(
        header=header,
        opening=records[0],
        records=tuple(records),
        closing=records[-1] if isinstance(records[-1], RunClose) else None,
        unended=chain.unended,
        head=chain.head,
    )


def _header(line: bytes) -> Header:
    header = exact(line, _header_decoder, "header")[0]
    if header.format != BUNDLE_FORMAT or header.version != BUNDLE_VERSION:
        raise FaultError(
            f"format {header.format!r} version {header.version} is not "
            f"{BUNDLE_FORMAT!r} version {BUNDLE_VERSION}, the only one known here"
        )
    try:
        run_id(header.run)
    except ValueError as error:
        raise FaultError(str(error)) from None
    if header.attempt < 1:
        raise FaultError(f"attempt {header.attempt} is not a number from 1")
    if not holds(
        public_key=header.public_key, message=signed_bytes(header), signature=header.signature
    ):
        raise FaultError("the header's signature does not hold")
    return header


def _record(line: bytes, header: Header) -> Record:
    record, raw = exact(line, _record_decoder, "record")
    if isinstance(record, RunOpen) and digest(raw["launch"]) != record.launch_sha256:
        raise FaultError("the digest of the launch is not the launch's")
    if isinstance(record, RunClose) and not holds(
        public_key=header.public_key, message=signed_bytes(record), signature=record.signature
    ):
        raise FaultError("the close's signature does not hold")
    return record
