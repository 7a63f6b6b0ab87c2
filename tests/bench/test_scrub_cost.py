"""What looking for a key costs per streamed chunk: as a multiple of hashing the same chunk once.

CPU time of this process, so that other work on the machine counts little; figures go to
results/scrub_cost.json.
"""

import hashlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.budgets import ROUNDS, keep, quiet
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import Spellings

KEYS = {
    "sk-proj": "sk-proj-4fKq0ZtXw7RhBvY2mJdLc9NsEgPuAi83oTkQ",
    "sk-ant": "sk-ant-api03-Qm7xVt2LfRz9KcWd5HsJbYgNpEuAo41i",
    "random": "Zx8vQm2LtRw7KcYd5HsJbFgNpEuAo41i",
}
BAR = 15.0
WORDS = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split() * 4


def event(word: str) -> bytes:
    choice = {"index": 0, "delta": {"content": f" {word}"}, "finish_reason": None}
    document = {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "fx-coder-1",
        "choices": [choice],
    }
    return b"data: %b\n\n" % json.dumps(document, separators=(",", ":")).encode()


def cpu_ns(take: Callable[[bytes], object], events: list[bytes]) -> float:
    """Of one chunk."""
    started = time.process_time_ns()
    for data in events:
        take(data)
    return (time.process_time_ns() - started) / len(events)


@pytest.mark.bench
@pytest.mark.parametrize("name", KEYS)
def test_looking_for_a_key_costs_little(name: str) -> None:
    quiet()
    events = [event(word) for word in WORDS]
    ratios, costs = [], []
    for _ in range(ROUNDS):
        scrubber = Scrubber(Spellings(KEYS[name]), hashlib.sha256, events=True)
        cpu_ns(scrubber.feed, events)  # the patterns are made, letters are chosen
        cost, hashed = cpu_ns(scrubber.feed, events), cpu_ns(hashlib.sha256().update, events)
        costs.append(cost)
        ratios.append(cost / hashed)
    ratio = statistics.median(ratios)
    keep(
        f"scrub_cost_{name}",
        {
            "ns_per_chunk": round(statistics.median(costs)),
            "bytes_per_chunk": round(statistics.mean(map(len, events))),
            "times_one_sha256": round(ratio, 2),
            "bar": BAR,
        },
    )
    assert ratio <= BAR
