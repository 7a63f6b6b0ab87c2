"""The page on the broker's cost says what its JSON says, and how far that can be trusted."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.broker.judging import beside, judged

FILE = Path(__file__).parents[3] / "docs" / "performance.py"
COSTS = {"nginx": (28.0, 20.0), "haproxy": (27.0, 21.0), "broker": (50.0, 220.0)}


@pytest.fixture
def performance() -> ModuleType:
    spec = importlib.util.spec_from_file_location("performance", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result(*, calm: bool, litellm: dict[str, dict[str, float]]) -> dict[str, Any]:
    medians: dict[str, dict[str, dict[str, float]]] = {
        name: {
            "streams": {
                "cpu_us_per_unit": chunk, "lag_p50_ms": 0.2, "lag_p99_ms": 9.0, "pss_mb": 90.0,
            },
            "requests": {"cpu_us_per_unit": request},
        }
        for name, (chunk, request) in COSTS.items()
    }  # fmt: skip
    machine = dict.fromkeys(("cpu", "cores", "kernel", "python", "nginx", "haproxy"), "?")
    return {
        "machine": machine | {"litellm": "1.2.3" if litellm else None},
        "date": "2026-01-01", "rounds": 1, "load_before": 0.5 if calm else 9.5, "calm": calm,
        "realtime": False, "rows": judged([medians], calm=calm),
        "beside": beside(medians["broker"], litellm, calm=calm), "medians": medians,
    }  # fmt: skip


def page_of(performance: ModuleType, tmp_path: Path, found: dict[str, Any]) -> str:
    performance.RESULT = tmp_path / "broker.json"  # type: ignore[attr-defined]
    performance.RESULT.write_text(json.dumps(found))
    assert performance.picture().startswith("<svg ")
    page: str = performance.page()
    return page


def test_when_calm_it_says_what_was_reached(performance: ModuleType, tmp_path: Path) -> None:
    litellm = {"requests": {"cpu_us_per_unit": 22_000.0}}
    page = page_of(performance, tmp_path, result(calm=True, litellm=litellm))
    assert "| 11x | 15x | 3x | bar |" in page
    assert "over the broker | 100x | - | - | for comparison |" in page
    assert "indicative" not in page


def test_when_busy_it_says_that_nothing_was(performance: ModuleType, tmp_path: Path) -> None:
    page = page_of(performance, tmp_path, result(calm=False, litellm={}))
    assert "figures are indicative only" in page
    assert "| 11x | 15x | 3x | not measured: load |" in page
    assert "| bar |\n" not in page
    assert "LiteLLM was not measured" in page
