"""The Prometheus exposition: what runs now, and counts since the broker started.

No label comes from a sandbox or a provider.
"""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from stanchion.broker.attempts.runs import Runs
from stanchion.broker.receipts.ledger import Ledger

_ACCOUNT = ["profile", "account"]


class Metrics(Collector):
    """One registry, ours alone."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, runs: Runs, ledger: Ledger) -> None:
        self._runs = runs
        self._ledger = ledger
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """The exposition."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing is collected for being registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Read at each scrape."""
        tally = self._runs.tally
        yield GaugeMetricFamily("stanchion_open_runs", "Open attempts", self._runs.open_count)
        yield _counts(
            GaugeMetricFamily("stanchion_closed_runs", "Closed attempts", labels=["reason"]),
            {(reason,): count for reason, count in tally.closed.items()},
        )
        yield _counts(
            CounterMetricFamily(
                "stanchion_exchanges", "Model requests that ended",
                labels=[*_ACCOUNT, "result", "error_class"],
            ),
            {(*account, *words): n for (account, *words), n in tally.exchanges.items()},
        )  # fmt: skip
        yield _counts(
            CounterMetricFamily("stanchion_sendings", "Tries of all requests", labels=_ACCOUNT),
            {(*account,): count for account, count in tally.sendings.items()},
        )
        lost = "Sendings of which nobody knows whether the provider processed them"
        yield _counts(
            CounterMetricFamily("stanchion_ambiguous_sendings", lost, labels=_ACCOUNT),
            {(*account,): count for account, count in tally.ambiguous.items()},
        )
        held = "Time that requests were held back, over those that ended"
        yield _counts(
            CounterMetricFamily("stanchion_held_seconds", held, labels=_ACCOUNT),
            {account: ms / 1000 for account, ms in tally.held_ms.items()},
        )
        yield _counts(
            CounterMetricFamily(
                "stanchion_tokens", "Tokens as reported by providers", labels=[*_ACCOUNT, "kind"]
            ),
            {(*account, kind): count for (account, kind), count in tally.tokens.items()},
        )
        without = "Answers without a usage report: their tokens are in no sum"
        yield _counts(
            CounterMetricFamily("stanchion_unreported_exchanges", without, labels=_ACCOUNT),
            {(*account,): count for account, count in tally.unreported.items()},
        )
        appended = self._ledger.store.appended
        yield CounterMetricFamily("stanchion_receipts", "Receipts made durable", appended)
        yield from self._accounts()

    def _accounts(self) -> Iterator[Metric]:
        turns = self._runs.turns()
        yield _counts(
            GaugeMetricFamily(
                "stanchion_account_tripped", "1 = the provider refuses the account", labels=_ACCOUNT
            ),
            {account: int(queue.trip is not None) for account, queue in turns.items()},
        )
        yield _counts(
            GaugeMetricFamily("stanchion_account_waiting", "Requests held now", labels=_ACCOUNT),
            {account: queue.waiting for account, queue in turns.items()},
        )
        yield _counts(
            GaugeMetricFamily("stanchion_account_in_flight", "Requests sent now", labels=_ACCOUNT),
            {account: queue.in_flight for account, queue in turns.items()},
        )


def _counts(
    family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[tuple[str, ...], float]
) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family
