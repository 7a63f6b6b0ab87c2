"""A broker that is killed with -9 and started again, and what keeper and supervisor do about it.

A scenario is a generator: up to its `yield` under the first broker, after it under the second. Many
share one restart, as attempts do.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from fakes.launches import KEY
from fakes.supervisor import Supervisor
from fakes.upstream import Upstream
from functional.broker.live import Enrolment, LiveBroker, live_broker
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.admin import Rehearsal, RunView
from stanchion.protocol.control import Enrolled
from stanchion.protocol.outcome import EndReason

Scenario = Callable[[LiveBroker], AsyncGenerator[None, LiveBroker]]


async def over_a_kill(root: Path, *scenarios: Scenario, config: str = "version = 1\n") -> str:
    """All scenarios over one kill -9; the log of both brokers."""
    (root / "stanchion.toml").write_text(config)
    options = ("--config", str(root / "stanchion.toml"))
    with live_broker(root, *options) as first:
        under_way = [scenario(first) for scenario in scenarios]
        for one in under_way:
            await anext(one)
        first.kill()
        with live_broker(root, *options) as second:
            for one in under_way:
                with contextlib.suppress(StopAsyncIteration):
                    await one.asend(second)
    return first.paths.log_file.read_text()


async def take_up(broker: LiveBroker, run: Enrolment, provider: Upstream | None = None) -> None:
    """What keeper and supervisor do once the next broker is there."""
    before = run.supervisor
    await hang_up(before)
    run.supervisor = Supervisor(run.directory, boot=before.boot, lease=before.lease, seq=before.seq)
    answer = await run.supervisor.resume()
    assert isinstance(answer, Enrolled), answer
    assert answer.acked_seq == before.seq
    if provider is not None:
        async with broker.client() as client:
            await client.present(run.id, Rehearsal(port=provider.port, key=KEY))


async def hang_up(supervisor: Supervisor) -> None:
    with contextlib.suppress(ConnectionError):
        await supervisor.close()


async def bundle_of(broker: LiveBroker, run: Enrolment) -> Verified:
    async with broker.client() as client:
        found = verify(await client.bundle(run.id))
    assert isinstance(found, Verified), found
    return found


def reason(view: RunView) -> EndReason:
    assert view.outcome is not None
    return view.outcome.reason
