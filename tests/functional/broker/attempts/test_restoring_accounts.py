"""Which account pays for an attempt after a restart."""

from collections.abc import AsyncGenerator
from pathlib import Path

from fakes.supervisor import ask
from fakes.upstream import upstream
from functional.broker.attempts.over_a_restart import Scenario, over_a_kill, take_up
from functional.broker.attempts.test_closing import BODY, GOOD
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.control import StopOrder
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.launch import ModelRef

ACCOUNT = """
[profiles.evals.accounts.{name}]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:{name}"
"""


async def test_only_the_frozen_account_pays_after_a_restart(root: Path) -> None:
    """One is as it was, one has another key, one is not configured any more."""
    names = ("kept", "changed", "gone")
    for name in names:
        (root / name).write_text(f"sk-CANARY-{name}")
        (root / name).chmod(0o600)
    config = root / "stanchion.toml"
    async with upstream(GOOD) as provider:

        def scenario(name: str) -> Scenario:
            async def goes_on(first: LiveBroker) -> AsyncGenerator[None, LiveBroker]:
                terms = {"profile": "evals", "model": ModelRef(account=name, id="fx-coder-1")}
                async with enrolled(first, None, **terms) as run:
                    if name == "gone":
                        (root / "changed").write_text("sk-CANARY-other")
                        config.write_text(config.read_text().replace("accounts.gone", "accounts.x"))
                    second = yield
                    await take_up(second, run)
                    lease = run.supervisor.lease
                    statuses[name] = (await ask(run.directory, BODY, lease=lease)).status
                    if name != "kept":
                        stops[name] = (await run.supervisor.hear_of(StopOrder)).stop

            return goes_on

        statuses, stops = {}, {}
        text = "".join(ACCOUNT.format(name=name, port=provider.port) for name in names)
        scenarios = [scenario(name) for name in names]
        await over_a_kill(root, *scenarios, config=f"version = 1\n{text}")
        (request,) = provider.received
    assert b"Bearer sk-CANARY-kept" in request.head
    assert statuses == {"kept": 200, "changed": 403, "gone": 403}
    for name, stop in stops.items():
        assert stop.reason is StopReason.BROKER_LOST
        assert f"account {name} of profile evals" in stop.detail
    assert set(stops) == {"changed", "gone"}
