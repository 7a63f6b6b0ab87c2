"""The keeper as a process: what it says, and that it survives those who listen."""

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import StatePaths
from stanchion.protocol.codec import decode, encode
from stanchion.runner.keeper.order import (
    BrokerAway,
    Ended,
    Failed,
    NotOpened,
    Opened,
    Order,
    RehearsalOrder,
    Report,
)
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.results.job_folder import read_results
from stanchion.runner.tasks.examples import example_task

pytestmark = pytest.mark.timeout(60)
HELLO = example_task("hello")


async def said_by(order: Order) -> list[Report]:
    keeper = await Keeper.start(order)
    return [report async for report in keeper.reports()]


async def test_a_sandbox_that_cannot_start_is_a_result_without_a_score(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    await ensure_broker(paths, None, print)
    opened, ended = await said_by(order)

    assert isinstance(opened, Opened)
    assert isinstance(ended, Ended)
    (result,) = read_results(Path(ended.result))
    assert (result.outcome.reason, result.score) == ("sandbox_lost", None)
    assert "no-runsc cannot be started" in result.outcome.detail
    assert list((tmp_path / "scratch").glob("ab*")) == []
    assert (tmp_path / "result" / "receipts.bundle").read_bytes().count(b"\n") > 2


async def test_a_refusal_of_the_broker_is_passed_on_before_any_sandbox(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    await ensure_broker(paths, None, print)
    spec = msgspec.structs.replace(REHEARSAL_SPEC, profile="nobody")
    changed = msgspec.structs.replace(order.open_run, spec=spec)
    (report,) = await said_by(msgspec.structs.replace(order, open_run=changed))

    assert isinstance(report, NotOpened)
    assert report.refusal.id == "profile_unknown"
    assert not (tmp_path / "scratch").exists()


async def test_without_a_broker_it_says_so(order: Order) -> None:
    (report,) = await said_by(order)

    assert isinstance(report, BrokerAway)


async def test_a_rehearsal_that_does_not_start_is_said(order: Order, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("nonsense")
    rehearsal = RehearsalOrder(script=str(tmp_path / "bad.toml"), key="sk-x")
    (report,) = await said_by(msgspec.structs.replace(order, rehearsal=rehearsal))

    assert isinstance(report, Failed)
    assert "not TOML" in report.why


def test_no_order_is_an_error_and_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stanchion.runner.keeper"],
        input=b"{}",
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 2
    assert isinstance(decode(done.stdout, Failed), Failed)
    assert done.stderr == b""


async def test_a_listener_that_is_gone_changes_nothing(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    await ensure_broker(paths, None, print)
    await asyncio.to_thread(_keep_unheard, order)

    assert (tmp_path / "result" / "result.json").is_file()


def _keep_unheard(order: Order) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "stanchion.runner.keeper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(encode(order))
        process.stdin.close()
        process.wait(timeout=50)
