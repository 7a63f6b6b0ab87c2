"""Figures beside their bars and goals, kept as JSON in results.

A row that other work of the machine disturbs has no value and no verdict: `not measured: load`.
"""

import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

RESULTS = Path(__file__).parent / "results"
MAX_LOAD = 2.0
"""Of the last minute, on this kind of machine: two cores."""
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Budget:
    """One row; less is better."""

    name: str
    what: str
    unit: str
    bar: float
    goal: float

    def verdict(self, value: float) -> str:
        """The best mark that the value reaches."""
        return "goal" if value <= self.goal else "bar" if value <= self.bar else "missed"

    def settle(self, rounds: Sequence[float], *, load: float | None, **details: object) -> None:
        """Keep the median and judge it. `load` = what disturbed it; None = nothing did."""
        row: dict[str, object] = {"what": self.what, "unit": self.unit}
        row |= {"bar": self.bar, "goal": self.goal, **details}
        if load is None:
            value = statistics.median(rounds)
            row |= {"value": value, "rounds": list(rounds), "verdict": self.verdict(value)}
            keep(self.name, row)
            assert value <= self.bar, f"{self.what}: {value} {self.unit}, at most {self.bar}"
        else:
            row |= {"value": None, "disturbed_rounds": list(rounds)}
            keep(self.name, row | {"verdict": "not measured: load", "load": load})


def disturbed() -> float | None:
    """The load, where it is too high to measure times; else None."""
    load = os.getloadavg()[0]
    return None if load < MAX_LOAD else round(load, 2)


def quiet() -> None:
    """Skip where times cannot be measured."""
    if (load := disturbed()) is not None:
        pytest.skip(f"not measured: load {load}")


def keep(name: str, figures: dict[str, object]) -> None:
    """Beside the load of the moment."""
    about: dict[str, object] = {"load": round(os.getloadavg()[0], 2), "cores": os.cpu_count()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(about | figures, indent=1) + "\n")
    sys.stdout.write(f"{name}: {json.dumps(about | figures)}\n")
