"""What real harnesses were recorded to have printed, saved and asked for: one JSON file a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.protocol.events import StepSaved
from stanchion.protocol.transcript import ItemKind, TranscriptItem

HERE = Path(__file__).parent


class Provenance(msgspec.Struct, forbid_unknown_fields=True):
    """Where a recording is from."""

    harness: str
    recorded: str
    command: list[str]
    scenario: str
    query: str | None = None
    """By which its store was read."""


class Recorded(msgspec.Struct, forbid_unknown_fields=True):
    """What all of them have."""

    provenance: Provenance
    returncode: int


R = TypeVar("R", bound=Recorded)


@dataclass(frozen=True, slots=True)
class Recordings(Generic[R]):
    """Those of one release."""

    harness: str
    version: str
    kind: type[R]
    within: str = ""
    """A folder of recordings of one sort."""

    @property
    def folder(self) -> Path:
        return HERE / self.within / f"{self.harness.replace('_', '-')}-{self.version}"

    @property
    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def load(self, name: str) -> R:
        return msgspec.json.decode((self.folder / f"{name}.json").read_bytes(), type=self.kind)


def items(saved: Iterable[Saved], kind: ItemKind) -> list[TranscriptItem]:
    """What was said or done of this kind."""
    return [item for item in saved if isinstance(item, TranscriptItem) and item.kind is kind]


def steps(saved: Iterable[Saved]) -> list[tuple[str, bool]]:
    """Why each step ended, and whether it counts."""
    return [(item.reason, item.counts) for item in saved if isinstance(item, StepSaved)]
