"""Folds samples of the agent's processes into gauges and signs of life. Pure.

A sum over processes that ended meanwhile keeps their share; a gauge nobody could read is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stanchion.supervisor.evidence import Evidence, HarnessActive, ToolsActive

IDLE_FLOOR = 0.05
"""Share of one CPU that an idle harness may use (timers, garbage collection)."""


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One process; `key` tells it from an earlier one with the same pid."""

    key: tuple[int, int]
    is_harness: bool
    cpu_ms: int | None
    rss_bytes: int | None
    moved_bytes: int | None = None
    """Read and written so far, through any descriptor; None = could not be read."""


@dataclass(slots=True)
class ProcessTree:
    """The tree over time."""

    cpu_ms: int = 0
    _seen: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """Of each process: CPU time used and bytes moved so far."""
    _last_ms: int | None = None

    def observe(self, samples: Sequence[ProcessSample], at_ms: int) -> list[Evidence]:
        """The signs of life since the last sample. What could not be read stays as it was."""
        tools = harness_cpu_ms = 0
        seen = {}
        for sample in samples:
            cpu_before, moved_before = self._seen.get(sample.key, (0, 0))
            cpu_ms = cpu_before if sample.cpu_ms is None else sample.cpu_ms
            moved_bytes = moved_before if sample.moved_bytes is None else sample.moved_bytes
            self.cpu_ms += max(cpu_ms - cpu_before, 0)
            if sample.is_harness:
                harness_cpu_ms += cpu_ms - cpu_before
            elif sample.key not in self._seen or cpu_ms > cpu_before or moved_bytes > moved_before:
                tools += 1
            seen[sample.key] = (cpu_ms, moved_bytes)
        interval_ms = at_ms - self._last_ms if self._last_ms is not None else 0
        self._seen = seen
        self._last_ms = at_ms
        signs: list[Evidence] = []
        if tools:
            signs.append(ToolsActive())
        if interval_ms > 0 and harness_cpu_ms > interval_ms * IDLE_FLOOR:
            signs.append(HarnessActive())
        return signs


def total_rss(samples: Sequence[ProcessSample]) -> int | None:
    """Sum over the processes; unknown where one of them is."""
    sizes = [sample.rss_bytes for sample in samples]
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None
