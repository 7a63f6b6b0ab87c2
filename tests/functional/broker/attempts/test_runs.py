"""Attempts across a restart of the broker, and their bounded number."""

import hashlib
import secrets
import tempfile
from pathlib import Path

import pytest

from fakes.launches import order
from functional.broker.live import enrolled, live_broker
from stanchion.protocol.refusal import RefusedError


async def test_a_closed_attempt_is_known_to_the_next_broker() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        with live_broker(root) as broker:
            async with enrolled(broker, 9) as run:
                await run.supervisor.close()
                view = await broker.close(run.id)
        with live_broker(root) as broker:
            async with broker.client() as client:
                assert await client.run(run.id) == view
                assert await client.runs() == [view]
                assert (await client.events(run.id)).ended
                assert await broker.close(run.id) == view
                name, _, _ = run.id.partition(".")
                with pytest.raises(RefusedError, match="opened once"):
                    await client.open_run(order(run=name))


async def test_open_attempts_are_bounded() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        config = Path(folder) / "stanchion.toml"
        config.write_text("version = 1\n[broker]\nmax_runs = 1\n", encoding="utf-8")
        with live_broker(Path(folder), "--config", str(config)) as broker:
            async with enrolled(broker, 9) as run, broker.client() as client:
                with pytest.raises(RefusedError) as refused:
                    await client.open_run(order(run=secrets.token_hex(6)))
                assert refused.value.refusal.id == "too_many_runs"
                await run.supervisor.close()
                await broker.close(run.id)
                await client.open_run(order(run=secrets.token_hex(6)))


@pytest.mark.parametrize(("run", "attempt"), [("XYZ", 1), ("7f3a90c41b22", 0), ("../../x", 1)])
async def test_an_id_that_is_none_is_refused(run: str, attempt: int) -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        async with broker.client() as client:
            with pytest.raises(RefusedError) as refused:
                await client.open_run(order(run=run, attempt=attempt))
            assert refused.value.refusal.id == "attempt_id"


async def test_the_attempt_directory_holds_the_launch_in_the_bytes_of_its_digest() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        async with broker.client() as client:
            opened = await client.open_run(order(run=secrets.token_hex(6)))
        launch = (Path(opened.directory) / "launch.json").read_bytes()
        assert hashlib.sha256(launch).hexdigest() == opened.launch_sha256
