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

        self._held = Gauge(
            "stanchion_held_seconds", "Time that requests were held", registry=self._registry
        )
        account = ["profile", "account"]
        self._tripped = Gauge(
            "stanchion_account_tripped",
            "1 = the provider refuses the account",
            account,
            registry=self._registry,
        )
        self._waiting = Gauge(
            "stanchion_account_waiting", "Requests held now", account, registry=self._registry
        )
        self._in_flight = Gauge(
            "stanchion_account_in_flight", "Requests sent now", account, registry=self._registry
        )

    def text(self, runs: Runs) -> bytes:
        """The exposition."""
        views = runs.views()
        reasons = Counter(view.outcome.reason for view in views if view.outcome is not None)
        self._open.set(runs.open_count)
        self._exchanges.set(sum(view.exchanges for view in views))
        self._held.set(sum(view.held_ms for view in views) / 1000)
        for (profile, account), turns in runs.turns().items():
            self._tripped.labels(profile, account).set(turns.trip is not None)
            self._waiting.labels(profile, account).set(turns.waiting)
            self._in_flight.labels(profile, account).set(turns.in_flight)
        self._ended.clear()
        for reason, count in reasons.items():
            self._ended.labels(reason=reason.value).set(count)
        return generate_latest(self._registry)
