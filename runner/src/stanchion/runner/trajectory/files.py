"""Reads the files of an attempt's folder and writes its trajectory beside them."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult
from stanchion.protocol.transcript import TranscriptItem
from stanchion.runner.results.job_folder import RESULT, write_json
from stanchion.runner.trajectory.atif import Trajectory
from stanchion.runner.trajectory.document import trajectory
from stanchion.runner.trajectory.wire import read_wire

TRAJECTORY = "trajectory.json"
TRANSCRIPT = "transcript.jsonl"
BUNDLE = "receipts.bundle"

_items = msgspec.json.Decoder(TranscriptItem)


def read_trajectory(folder: Path) -> Trajectory:
    """Made anew from result, transcript and receipts; OSError or CodecError without a result."""
    result = decode((folder / RESULT).read_bytes(), AttemptResult)
    bundle = folder / BUNDLE
    wire = read_wire(bundle.read_bytes()) if bundle.is_file() else None
    return trajectory(result, read_items(folder / TRANSCRIPT), wire)


def write_trajectory(folder: Path) -> Path:
    """`trajectory.json` in the attempt's folder, whole or not at all."""
    path = folder / TRAJECTORY
    write_json(path, read_trajectory(folder))
    return path


def read_items(path: Path) -> Iterator[TranscriptItem]:
    """Every item that can be read; a line that was cut is none."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield _items.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
