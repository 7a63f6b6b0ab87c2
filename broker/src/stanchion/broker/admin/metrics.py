"""Gauges for Prometheus, read from the live attempts at each scrape. No labels from a sandbox."""

from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from stanchion.broker.attempts.runs import Runs


class Metrics:
    """One registry, ours alone."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._open = Gauge("stanchion_open_runs", "Open attempts", registry=self._registry)
        self._ended = Gauge(
            "stanchion_closed_runs", "Closed attempts", ["reason"], registry=self._registry
        )
        self._exchanges = Gauge(
            "stanchion_exchanges", "Model requests sent, over all attempts", registry=self._registry
        )

    def text(self, runs: Runs) -> bytes:
        """The exposition."""
        views = runs.views()
        reasons = Counter(view.outcome.reason for view in views if view.outcome is not None)
        self._open.set(runs.open_count)
        self._exchanges.set(sum(view.exchanges for view in views))
        self._ended.clear()
        for reason, count in reasons.items():
            self._ended.labels(reason=reason.value).set(count)
        return generate_latest(self._registry)
