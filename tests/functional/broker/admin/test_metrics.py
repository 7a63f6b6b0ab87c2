"""The Prometheus exposition of a real broker."""

import tempfile
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from fakes.supervisor import ask
from fakes.upstream import response, upstream
from functional.broker.attempts.test_closing import BODY, GOOD
from functional.broker.live import LiveBroker, enrolled, live_broker

ACCOUNT = {"profile": "rehearsal", "account": "rehearsal"}


async def read(broker: LiveBroker) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample as a Prometheus server would take it."""
    async with broker.client() as client:
        text = await client.metrics()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


async def test_exchanges_tokens_receipts_and_endings_are_counted() -> None:
    refused = response(400, b'{"error":{"message":"no","type":"invalid_request_error"}}')
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        with live_broker(Path(folder)) as broker:
            async with (
                upstream(GOOD, refused) as provider,
                enrolled(broker, provider.port) as run,
            ):
                before = await read(broker)
                for status in (200, 400):
                    answer = await ask(run.directory, BODY, lease=run.lease)
                    assert answer.status == status
                during = await read(broker)
                await run.supervisor.close()
                await broker.close(run.id, sandbox_exit=2)
                after = await read(broker)
        with live_broker(Path(folder)) as broker:
            later = await read(broker)
    assert before[key("stanchion_open_runs")] == 1
    assert before[key("stanchion_receipts_total")] == 3, "run.open and two tokens"
    good = key("stanchion_exchanges_total", **ACCOUNT, result="completed", error_class="")
    bad = {"result": "provider_error", "error_class": "invalid_request"}
    assert good not in before
    assert during[good] == during[key("stanchion_exchanges_total", **ACCOUNT, **bad)] == 1
    assert during[key("stanchion_tokens_total", **ACCOUNT, kind="output")] == 30
    assert during[key("stanchion_unreported_exchanges_total", **ACCOUNT)] == 1
    assert during[key("stanchion_sendings_total", **ACCOUNT)] == 2
    assert during[key("stanchion_held_seconds_total", **ACCOUNT)] == 0
    assert during[key("stanchion_receipts_total")] == 7
    assert after[key("stanchion_open_runs")] == 0
    lost = key("stanchion_closed_runs", reason="sandbox_lost")
    assert lost not in during
    assert after[lost] == later[lost] == 1
    assert later[key("stanchion_receipts_total")] == 0
