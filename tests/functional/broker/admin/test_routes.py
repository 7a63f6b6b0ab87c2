"""The admin API of a real broker: policy refusals, lists, long polls, constant errors."""

import asyncio
import secrets
import time

import pytest

from fakes.launches import order
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import (
    AssertedBy,
    Stage,
    StageChanged,
    StageState,
    Warned,
    decode_event,
)
from stanchion.protocol.launch import Effort, Limits, ModelRef
from stanchion.protocol.refusal import RefusedError


async def test_health_names_process_and_configuration(broker: LiveBroker) -> None:
    async with broker.client() as client:
        health = await client.health()
        profiles = await client.profiles()
    assert (health.pid, health.protocol) == (broker.process.pid, PROTOCOL_VERSION)
    assert (health.config_path, health.config_sha256) == (None, None)
    assert [(p.name, p.accounts) for p in profiles] == [
        ("rehearsal", {"rehearsal": Dialect.OPENAI_CHAT})
    ]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"profile": "evals"}, "profile_unknown"),
        ({"model": ModelRef(account="other", id="m")}, "account_missing"),
        (
            {"dialect": Dialect.GEMINI, "model": ModelRef(account="rehearsal", id="models/m")},
            "model_unaddressable",
        ),
        ({"limits": Limits(output_tokens=None)}, "limit_missing"),
        ({"effort": Effort(word="ultra")}, "effort_unknown"),
        ({"protocol": 99}, "protocol_version"),
    ],
)
async def test_a_launch_against_policy_leaves_nothing(
    broker: LiveBroker, changes: dict[str, object], word: str
) -> None:
    run = secrets.token_hex(6)
    async with broker.client() as client:
        with pytest.raises(RefusedError) as refused:
            await client.open_run(order(run=run, **changes))
        assert refused.value.refusal.id == word
        with pytest.raises(RefusedError) as unknown:
            await client.run(run)
        assert unknown.value.refusal.id == "run_unknown"


async def test_an_attempt_is_opened_once(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        name, _, _ = run.id.partition(".")
        with pytest.raises(RefusedError, match="opened once"):
            await client.open_run(order(run=name))
        second = await client.open_run(order(run=name, attempt=2))
        assert (await client.run(name)).id == second.id
        assert run.id in [view.id for view in await client.runs()]


async def test_a_long_poll_answers_when_something_comes(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        page = await client.events(run.id, wait_s=30)
        started = time.monotonic()
        waiting = asyncio.gather(
            client.events(run.id, after=page.cursor, wait_s=30),
            run.supervisor.publish(Warned(what="news", detail="now")),
        )
        later, _ = await waiting
        assert time.monotonic() - started < 25
        assert [decode_event(entry.event) for entry in later.entries] == [
            Warned(what="news", detail="now")
        ]
        assert later.entries[0].asserted_by is AssertedBy.SANDBOX


async def test_a_note_is_the_hosts_word(broker: LiveBroker) -> None:
    stage = StageChanged(stage=Stage.ROOTFS, state=StageState.COMPLETE, duration_ms=3)
    async with enrolled(broker, 9) as run, broker.client() as client:
        opened = await client.events(run.id, wait_s=30)
        await client.note(run.id, stage)
        page = await client.events(run.id, after=opened.cursor, wait_s=30)
        assert (page.entries[-1].asserted_by, decode_event(page.entries[-1].event)) == (
            AssertedBy.HOST,
            stage,
        )


@pytest.mark.parametrize("cursor", ["nonsense", "0.0", "deadbeef.3"])
async def test_a_cursor_of_another_store_is_refused(broker: LiveBroker, cursor: str) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        with pytest.raises(RefusedError) as refused:
            await client.events(run.id, after=cursor)
        assert refused.value.refusal.id in {"cursor_gone", "cursor_invalid"}
