"""The page on what the broker costs, and its picture, from the JSON of the last bench run.

Every figure on them is in that file; nothing is measured or rounded up here.
"""

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parents[1] / "tests" / "bench" / "results" / "broker.json"
PARTS = Path(__file__).parent / "parts"
PROXIES = ("nginx", "haproxy", "broker")
NAMES = {"nginx": "nginx", "haproxy": "HAProxy", "broker": "Stanchion's broker"}
BUSY = (
    "**The machine was busy with other work: these figures are indicative only, and none of them "
    "says that a bar was met.** Ratios suffer least, for all proxies of a round met the same load."
)
SCENES = (
    ("streams", "a streamed chunk (1000 streams x 20/s)"),
    ("requests", "a 2 KB request, one a connection"),
    ("kept", "a 2 KB request over a kept connection"),
    ("large", "a 200 KB request, one a connection"),
)
COLOURS = {"nginx": "#9aa5b1", "haproxy": "#c3cbd4", "broker": "#2f6f9f"}
WIDTH, ROW, LABEL, BAR = 760, 26, 300, 340


def _result() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return result


def page() -> str:
    """docs/explanation/performance.md."""
    result = _result()
    machine = result["machine"]
    lines = [
        "# What custody costs",
        "",
        "The broker stands between every agent and its provider, so what it costs must be small",
        "and known. `make bench-broker` measures it beside nginx and HAProxy, in one run, on one",
        "core of one machine, in front of one provider; this page is made from what the last run",
        "wrote.",
        "",
        f"Measured on {result['date']}, median of {result['rounds']} rounds, load before it",
        f"{result['load_before']}: {machine['cpu']}, {machine['cores']} cores, Linux",
        f"{machine['kernel']}, Python {machine['python']}, nginx {machine['nginx']}, HAProxy",
        f"{machine['haproxy']}.",
    ]
    if not result["calm"]:
        lines += ["", BUSY]
    if result["realtime"]:
        lines += ["", "The tools and all three proxies ran before other work of the machine."]
    lines += ["", "| what | measured | bar | goal | reached |", "|---|---|---|---|---|"]
    for row in result["rows"] + result["beside"]:
        lines.append(
            f"| {row['what']} | {row['shown']} | {row['bar']} | {row['goal']} | {row['verdict']} |"
        )
    lines += ["", "![CPU time of each proxy for a unit of work](performance.svg)", ""]
    lines += _costs(result["medians"])
    version = machine["litellm"]
    if result["beside"]:
        lines += [
            "",
            f"LiteLLM {version}, beside it: one worker, 20 streams, no database.",
        ]
    else:
        lines += ["", "LiteLLM was not measured: it could not be installed, or was left out."]
    lines += ["", (PARTS / "performance.md").read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


def _costs(medians: dict[str, Any]) -> list[str]:
    head = " | ".join(NAMES[name] for name in PROXIES)
    lines = ["Microseconds of CPU time of the proxy for", "", f"| | {head} |", "|---|---|---|---|"]
    for scene, what in SCENES:
        cells = [_cost(medians, name, scene) for name in PROXIES]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    lines += [
        "",
        "Milliseconds that a chunk is late at its reader, median and 99th percentile:",
        "",
    ]
    lines += [f"| | {head} |", "|---|---|---|---|"]
    for name, figure in (("p50", "lag_p50_ms"), ("p99", "lag_p99_ms")):
        cells = [f"{medians[proxy]['streams'][figure]:.3g}" for proxy in PROXIES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _cost(medians: dict[str, Any], proxy: str, scene: str) -> str:
    figures = medians[proxy].get(scene)
    return "-" if figures is None else f"{figures['cpu_us_per_unit']:.3g}"


def picture() -> str:
    """docs/explanation/performance.svg: bars, each group on its own scale."""
    medians = _result()["medians"]
    parts: list[str] = []
    y = 8
    for scene, what in SCENES:
        costs = {
            proxy: medians[proxy][scene]["cpu_us_per_unit"]
            for proxy in PROXIES
            if scene in medians[proxy]
        }
        if not costs:
            continue
        most = max(costs.values())
        parts.append(f'<text x="8" y="{y + 16}" class="h">CPU for {what}</text>')
        y += ROW
        for proxy, cost in costs.items():
            width, fill = max(2, round(BAR * cost / most)), COLOURS[proxy]
            parts += [
                f'<text x="{LABEL - 8}" y="{y + 16}" class="n">{NAMES[proxy]}</text>',
                f'<rect x="{LABEL}" y="{y + 3}" width="{width}" height="18" fill="{fill}"/>',
                f'<text x="{LABEL + width + 6}" y="{y + 16}">{cost:.3g} us</text>',
            ]
            y += ROW
        y += 10
    style = "text{font:13px sans-serif;fill:#57606a}.h{font-weight:600}.n{text-anchor:end}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        f'aria-label="CPU time of each proxy for a unit of work"><style>{style}</style>'
        f"{''.join(parts)}</svg>\n"
    )
