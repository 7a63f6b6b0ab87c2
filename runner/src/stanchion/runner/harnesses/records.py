"""Conformance records: what each release was seen to do, one data file a release, kept in here.

A record is written on purpose; a later check that sees anything else is drift, which fails.
"""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import msgspec

from stanchion.runner.harnesses.judging import Judged

FOLDER = "records"


class RecordHead(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, and when."""

    harness: str
    version: str
    date: str
    """UTC."""
    stanchion: str
    runsc: str
    package: str
    """Digest of the harness's files."""


class ConformanceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All cells of one release."""

    head: RecordHead
    cells: tuple[Judged, ...]


def folder() -> Path:
    """Where the records of this version lie."""
    return Path(str(resources.files("stanchion.runner.harnesses").joinpath(FOLDER)))


def load(harness: str, version: str, place: Path | None = None) -> ConformanceRecord | None:
    """The kept record; None = the release was never checked."""
    file = _file(place or folder(), harness, version)
    if not file.is_file():
        return None
    return msgspec.json.decode(file.read_bytes(), type=ConformanceRecord)


def load_all(place: Path | None = None) -> list[ConformanceRecord]:
    """Every kept record, by name and version."""
    files = sorted((place or folder()).glob("*/*.json"))
    return [msgspec.json.decode(file.read_bytes(), type=ConformanceRecord) for file in files]


def save(record: ConformanceRecord, place: Path | None = None) -> Path:
    """Keep it, one line a cell."""
    file = _file(place or folder(), record.head.harness, record.head.version)
    file.parent.mkdir(parents=True, exist_ok=True)
    cells = ",\n".join(f"  {msgspec.json.encode(cell).decode()}" for cell in record.cells)
    head = msgspec.json.encode(record.head).decode()
    file.write_text(f'{{\n "head": {head},\n "cells": [\n{cells}\n ]\n}}\n', encoding="utf-8")
    return file


def drift(record: ConformanceRecord | None, now: Sequence[Judged], *, whole: bool) -> list[str]:
    """Where this time differs from what was kept; empty without a record."""
    if record is None:
        return []
    kept = {cell.cell: cell for cell in record.cells}
    seen = {cell.cell: cell for cell in now}
    changed = [
        f"{name}: seen otherwise than on {record.head.date}"
        for name, cell in seen.items()
        if name in kept and kept[name] != cell
    ]
    added = [f"{name}: not in the record" for name in seen if name not in kept]
    gone = [f"{name}: in the record only" for name in kept if name not in seen] if whole else []
    return changed + added + gone


def _file(place: Path, harness: str, version: str) -> Path:
    return place / harness / f"{version}.json"
