"""Rows of the result: each figure beside its bar and its goal. Pure.

A row whose rounds were disturbed by other work of the machine has no verdict.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

Figures = dict[str, float]
Round = dict[str, dict[str, Figures]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    id: str
    what: str
    unit: str
    bar: float
    goal: float
    scenes: tuple[tuple[str, str], ...]
    """Proxy and scene of each figure that it is made of."""
    of: Callable[[Round], float]
    more_is_better: bool = False


def _cost(one: Round, proxy: str, scene: str) -> float:
    return one[proxy][scene]["cpu_us_per_unit"]


def _ratio(scene: str) -> Callable[[Round], float]:
    return lambda one: _cost(one, "broker", scene) / _cost(one, "nginx", scene)


def _held(one: Round) -> float:
    """The most streams that were carried without one error, chunk or end missing."""
    counts = {"streams": 1000.0, "held": 1500.0}
    clean = [count for scene, count in counts.items() if not one["broker"][scene]["errors"]]
    return max(clean, default=0.0)


ROWS = (
    Row("chunk", "CPU per streamed chunk, 1000 streams x 20/s, full tap, over nginx", "x",
        2.0, 1.35, (("broker", "streams"), ("nginx", "streams")), _ratio("streams")),
    Row("request", "CPU per 2 KB request over nginx, one request a connection", "x",
        15.0, 3.0, (("broker", "requests"), ("nginx", "requests")), _ratio("requests")),
    Row("lag", "chunk lag, p99, 1000 streams", "ms", 40.0, 2.0, (("broker", "streams"),),
        lambda one: one["broker"]["streams"]["lag_p99_ms"]),
    Row("held", "streams held on one core, no error", "", 900.0, 1500.0,
        (("broker", "streams"), ("broker", "held")), _held, more_is_better=True),
    Row("pss", "PSS at 1000 streams", "MB", 120.0, 60.0, (("broker", "streams"),),
        lambda one: one["broker"]["streams"]["pss_mb"]),
    Row("ingest", "events taken in, durable", "/s", 5000.0, 20000.0, (("broker", "ingest"),),
        lambda one: one["broker"]["ingest"]["events_per_s"], more_is_better=True),
)  # fmt: skip


def judged(rounds: list[Round], *, calm: bool) -> list[dict[str, object]]:
    """Every row that was measured."""
    return [_judged(row, rounds, calm=calm) for row in ROWS if _measured(row, rounds)]


def beside(
    broker: dict[str, Figures], other: dict[str, Figures], *, calm: bool
) -> list[dict[str, object]]:
    """How much more LiteLLM costs, for each scene that both played; there is no bar for that."""
    rows = []
    for scene, what in (("streams", "streamed chunk"), ("requests", "2 KB request")):
        if scene in other and scene in broker:
            ratio = other[scene]["cpu_us_per_unit"] / broker[scene]["cpu_us_per_unit"]
            rows.append(
                {
                    "what": f"CPU of LiteLLM per {what}, over the broker",
                    "value": round(ratio, 3),
                    "shown": _shown(ratio, "x"),
                    "bar": "-",
                    "goal": "-",
                    "verdict": "for comparison" if calm else "not measured: load",
                }
            )
    return rows


def _measured(row: Row, rounds: list[Round]) -> bool:
    return all(scene in one.get(proxy, {}) for one in rounds for proxy, scene in row.scenes)


def _judged(row: Row, rounds: list[Round], *, calm: bool) -> dict[str, object]:
    values = [row.of(one) for one in rounds]
    value = min(values) if row.id == "held" else statistics.median(values)
    return {
        "id": row.id,
        "what": row.what,
        "value": round(value, 3),
        "shown": _shown(value, row.unit),
        "bar": _shown(row.bar, row.unit),
        "goal": _shown(row.goal, row.unit),
        "rounds": [round(one, 3) for one in values],
        "verdict": _verdict(row, value) if calm else "not measured: load",
    }


def _verdict(row: Row, value: float) -> str:
    def reaches(mark: float) -> bool:
        return value >= mark if row.more_is_better else value <= mark

    return "goal" if reaches(row.goal) else "bar" if reaches(row.bar) else "missed"


def _shown(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} {unit}".rstrip() if unit not in {"x", "/s"} else f"{number}{unit}"
