"""What the broker costs beside nginx and HAProxy, in one run: `make bench-broker`.

Writes tests/bench/results/broker.json, from which docs/generate.py makes the page and its picture.
Each figure is the median of its rounds. Where the machine is busy with other work no row says that
a bar was met: it says `not measured: load`, and with `--anyway` its figures are kept as indicative.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.broker import litellm, proxies, scenes, tools
from bench.broker.judging import beside, judged

RESULT = Path(__file__).parents[1] / "results" / "broker.json"
MAX_LOAD = 2.0
HELD = 1500
"""Streams at once, beside the 1000 of the main scene."""
Figures = dict[str, float]
Round = dict[str, dict[str, Figures]]
"""By proxy and scene."""


@contextlib.contextmanager
def provider(folder: Path) -> Iterator[int]:
    port = tools.free_port()
    process = subprocess.Popen(
        [str(folder / "provider"), str(port)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    try:
        yield port
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


async def one_round(built: Path, *, only: re.Pattern[str]) -> Round:
    """Every scene of every proxy, one after the other."""
    found: Round = {}
    for name in ("nginx", "haproxy", "broker"):
        with tempfile.TemporaryDirectory(prefix="sb") as folder, provider(built) as port:
            place = (
                proxies.broker(Path(folder), port)
                if name == "broker"
                else proxies.standing(name, Path(folder), port)
            )
            async with place as proxy:
                found[name] = await scenes_of(built / "client", proxy, only)
    return found


async def scenes_of(
    client: Path, proxy: proxies.Proxy, only: re.Pattern[str]
) -> dict[str, Figures]:
    loads = {
        "streams": scenes.streams(1000),
        "requests": scenes.Load(connections=32, seconds=4.0),
        "large": scenes.Load(connections=8, seconds=4.0, body_bytes=200_000),
        "kept": scenes.Load(connections=32, seconds=4.0, keep=True),
        "held": scenes.streams(HELD, each=1),
    }
    own = isinstance(proxy, proxies.Broker)
    wanted = [
        name
        for name in loads
        if only.fullmatch(name) and name != ("kept" if own else "held")  # one request a connection
    ]
    found = {}
    for name in wanted:
        found[name] = await scenes.play(client, proxy, loads[name])
        say(proxy.name, name, found[name])
    if isinstance(proxy, proxies.Broker) and only.fullmatch("ingest"):
        found["ingest"] = await scenes.ingest(proxy)
        say(proxy.name, "ingest", found["ingest"])
    return found


async def beside_litellm(built: Path) -> dict[str, Figures]:
    """Its own two scenes, once; empty = it is not here."""
    if litellm.installed() is None:
        return {}
    loads = {
        "requests": scenes.Load(connections=32, seconds=8.0),
        "streams": scenes.streams(20, each=1),
    }
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="sb") as folder, provider(built) as port:
        try:
            async with litellm.standing(Path(folder), port) as proxy:
                for name, load in loads.items():
                    found[name] = await scenes.play(built / "client", proxy, load)
                    say(proxy.name, name, found[name])
        except TimeoutError as error:
            sys.stdout.write(f"litellm   not measured: {error}\n")
    return found


def say(proxy: str, scene: str, figures: Figures) -> None:
    shown = (
        "cpu_us_per_unit", "proxy_cores", "busy_cores", "lag_p50_ms", "lag_p99_ms", "total_p50_ms",
        "pss_mb", "events_per_s", "finished", "errors",
    )  # fmt: skip
    words = [f"{name}={figures[name]:.4g}" for name in shown if figures.get(name, -1) >= 0]
    sys.stdout.write(f"{proxy:8} {scene:9} {' '.join(words)}\n")
    sys.stdout.flush()


def medians(rounds: list[Round]) -> Round:
    """Of each figure over the rounds; what a round did not measure is not in it."""
    return {
        proxy: {
            scene: {
                name: statistics.median(one[proxy][scene][name] for one in rounds)
                for name in rounds[0][proxy][scene]
            }
            for scene in rounds[0][proxy]
        }
        for proxy in rounds[0]
    }


def machine() -> dict[str, object]:
    """Where it was measured."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr
    haproxy = subprocess.run(["haproxy", "-v"], capture_output=True, text=True, check=True).stdout
    return {
        "cpu": cpu[1] if cpu else None,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "nginx": nginx.strip().rpartition("/")[2],
        "haproxy": haproxy.split()[2],
        "litellm": litellm.installed(),
    }


def result_of(
    rounds: list[Round], other: dict[str, Figures], *, load: float, realtime: bool
) -> dict[str, Any]:
    """What is written."""
    calm, found = load < MAX_LOAD, medians(rounds)
    return {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "rounds": len(rounds),
        "load_before": round(load, 2),
        "calm": calm,
        "realtime": realtime,
        "rows": judged(rounds, calm=calm),
        "beside": beside(found["broker"], other, calm=calm),
        "medians": found | ({"litellm": other} if other else {}),
    }


def quiet(wait_s: float) -> float:
    """The load once it is low enough, or after so long."""
    until = time.monotonic() + wait_s
    while (load := os.getloadavg()[0]) >= MAX_LOAD and time.monotonic() < until:
        time.sleep(5)
    return load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=".*", help="regular expression of scenes")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for a low load")
    parser.add_argument("--anyway", action="store_true", help="measure whatever the load is")
    parser.add_argument(
        "--realtime", action="store_true", help="before all other work of the machine (root)"
    )
    parser.add_argument("--no-litellm", action="store_true", help="leave LiteLLM out")
    parser.add_argument("--result", type=Path, default=RESULT)
    options = parser.parse_args()
    tools.set_up()
    tools.pin(tools.LOAD_CORE)
    if options.realtime:
        tools.ahead_of_others()
    load = quiet(options.wait)
    if load >= MAX_LOAD and not options.anyway:
        sys.stdout.write(f"not measured: load {load:.1f}\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="sb") as folder:
        tools.build(Path(folder))
        only = re.compile(options.only)
        rounds = [asyncio.run(one_round(Path(folder), only=only)) for _ in range(options.rounds)]
        other = {} if options.no_litellm else asyncio.run(beside_litellm(Path(folder)))
    result = result_of(rounds, other, load=load, realtime=options.realtime)
    options.result.parent.mkdir(exist_ok=True)
    options.result.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for row in result["rows"] + result["beside"]:
        sys.stdout.write(
            f"{row['what']:62} {row['shown']:>12}  bar {row['bar']:>8}  goal {row['goal']:>8}  "
            f"{row['verdict']}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
