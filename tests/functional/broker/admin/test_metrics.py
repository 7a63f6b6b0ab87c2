"""The Prometheus exposition of a real broker."""

from functional.broker.live import LiveBroker, enrolled


async def test_attempts_are_counted_by_how_they_ended(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        assert "stanchion_open_runs 1.0" in await client.metrics()
        await run.supervisor.close()
        await broker.close(run.id, sandbox_exit=2)
        text = await client.metrics()
    assert "stanchion_open_runs 0.0" in text
    assert 'stanchion_closed_runs{reason="sandbox_lost"} 1.0' in text
    assert "stanchion_exchanges 0.0" in text
