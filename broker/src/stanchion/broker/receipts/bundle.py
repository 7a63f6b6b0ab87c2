"""Reads a receipts bundle and checks that every byte of it is as it was signed.

Pure: bytes in, a verified bundle or the first thing that is wrong out. It trusts no key; whose
signature it is, is decided elsewhere. Nothing in a bundle may relax a check, and what this version
does not know is refused, never skipped.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from stanchion.broker.receipts.chain import Chain, ChainError, signed_bytes
from stanchion.broker.receipts.ed25519 import holds
from stanchion.protocol.codec import digest, encode
from stanchion.protocol.ids import run_id
from stanchion.protocol.receipt import (
    BUNDLE_FORMAT,
    BUNDLE_VERSION,
    Header,
    Record,
    RunClose,
    RunOpen,
)

T = TypeVar("T")

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


class _FaultError(ValueError):
    """What is wrong with the line in hand."""


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
    except (_FaultError, ChainError) as fault:
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
    header = _exact(line, _header_decoder, "header")[0]
    if header.format != BUNDLE_FORMAT or header.version != BUNDLE_VERSION:
        raise _FaultError(
            f"format {header.format!r} version {header.version} is not "
            f"{BUNDLE_FORMAT!r} version {BUNDLE_VERSION}, the only one known here"
        )
    try:
        run_id(header.run)
    except ValueError as error:
        raise _FaultError(str(error)) from None
    if header.attempt < 1:
        raise _FaultError(f"attempt {header.attempt} is not a number from 1")
    if not holds(
        public_key=header.public_key, message=signed_bytes(header), signature=header.signature
    ):
        raise _FaultError("the header's signature does not hold")
    return header


def _record(line: bytes, header: Header) -> Record:
    record, raw = _exact(line, _record_decoder, "record")
    if isinstance(record, RunOpen) and digest(raw["launch"]) != record.launch_sha256:
        raise _FaultError("the digest of the launch is not the launch's")
    if isinstance(record, RunClose) and not holds(
        public_key=header.public_key, message=signed_bytes(record), signature=record.signature
    ):
        raise _FaultError("the close's signature does not hold")
    return record


def _exact(line: bytes, decoder: msgspec.json.Decoder[T], what: str) -> tuple[T, dict[str, Any]]:
    """The message in a line that has no second spelling, and the line as plain JSON.

    A field that a newer version added may be missing (it reads as unknown); one that this version
    does not know may not be there.
    """
    try:
        raw = msgspec.json.decode(line)
        canonical = encode(raw) == line
        message = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _FaultError(f"not a {what}: {error}") from None
    if not canonical:
        raise _FaultError(f"the {what} is not in canonical form")
    stranger = _stranger(raw, msgspec.json.decode(encode(message)), "")
    if stranger is not None:
        raise _FaultError(f"the {what} has {stranger}, which this version does not know")
    return message, raw


def _stranger(raw: Any, known: Any, path: str) -> str | None:
    """The first place where the line says something that its message does not."""
    if isinstance(raw, dict) and isinstance(known, dict):
        for name, value in raw.items():
            inner = f"{path}.{name}" if path else name
            found = _stranger(value, known[name], inner) if name in known else inner
            if found is not None:
                return found
        return None
    if isinstance(raw, list) and isinstance(known, list) and len(raw) == len(known):
        pairs = enumerate(zip(raw, known, strict=True))
        inners = (_stranger(value, other, f"{path}.{at}") for at, (value, other) in pairs)
        return next((inner for inner in inners if inner is not None), None)
    return None if type(raw) is type(known) and raw == known else path
