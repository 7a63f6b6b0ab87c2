"""The broker is killed while the real OpenCode streams from it; it comes back, or it does not."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from fakes.file_there import until_there
from fakes.open_attempt import until_event, until_open
from fakes.small_tasks import OPENCODE, Stanchion
from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.codec import decode
from stanchion.protocol.events import ExchangeAlive
from stanchion.protocol.result import AttemptResult
from stanchion.runner.keeper.notes import Note
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    pytest.mark.usefixtures("opencode"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(400),
]
THINKS = example_task("long-think")
STREAMS_S = 120.0
LOST_S = 150.0
GONE_S = 30.0


@contextmanager
def running(stanchion: Stanchion) -> Iterator["subprocess.Popen[bytes]"]:
    """`stanchion run` of one attempt, as its own process."""
    process = subprocess.Popen(
        [*(sys.executable, "-m", "stanchion.runner", "run", str(THINKS)), *OPENCODE,
         *("--json", "-o", "out", "--state-dir", str(stanchion.state))],
        cwd=stanchion.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def kill_while_it_streams(stanchion: Stanchion) -> int:
    """Kill the broker once a model's answer is on its way; its pid."""
    async with asyncio.timeout(STREAMS_S):
        note = await asyncio.to_thread(until_kept, stanchion)
        await until_event(note, ExchangeAlive)
        async with BrokerClient(Path(note.admin_socket)) as broker:
            pid = (await broker.health()).pid
    os.kill(pid, signal.SIGKILL)
    return pid


def until_kept(stanchion: Stanchion) -> Note:
    """A keeper has the attempt: it needs its command no more."""
    return until_open(stanchion.state, stanchion.folder / "out", timeout_s=STREAMS_S)


def result_of(folder: Path) -> Path:
    """The keeper writes it whole or not at all."""
    return folder / "out/attempts/long-think__1/result.json"


def test_a_broker_that_is_back_within_seconds_costs_one_exchange(stanchion: Stanchion) -> None:
    with running(stanchion) as process:
        first = asyncio.run(kill_while_it_streams(stanchion))
        output, errors = process.communicate(timeout=STREAMS_S)
    assert process.returncode == 0, errors.decode()
    result = decode(output, AttemptResult)
    assert result.outcome.reason == "completed", result.outcome.detail
    assert result.score == 1.0
    assert result.receipts.bundle is not None

    lines = Path(result.receipts.bundle).read_text().splitlines()
    ends = [line["answered"]["result"] for line in map(json.loads, lines)
            if line["type"] == "exchange.end"]  # fmt: skip
    assert ends.count("interrupted") == 1
    assert set(ends) == {"interrupted", "completed"}
    code, report, audit_errors = stanchion("audit", result.receipts.bundle)
    assert code == 0, audit_errors
    assert b"1 interrupted" in report

    async def pid() -> int:
        async with BrokerClient(StatePaths(stanchion.state).admin_socket) as broker:
            return (await broker.health()).pid

    assert asyncio.run(pid()) != first


def test_a_broker_that_stays_away_ends_the_attempt_in_time(stanchion: Stanchion) -> None:
    """Nobody is left but keeper and sandbox: the command is killed before the broker."""
    with running(stanchion) as process:
        asyncio.run(kill_command_and_broker(stanchion, process))
        until_there(result_of(stanchion.folder), timeout_s=LOST_S)
    result = decode(result_of(stanchion.folder).read_bytes(), AttemptResult)
    assert result.outcome.reason == "broker_lost", result.outcome.detail
    assert (result.score, result.grade) == (None, "not_run")
    assert "score" in result.why
    assert sandboxes(stanchion.state) == []


async def kill_command_and_broker(stanchion: Stanchion, process: "subprocess.Popen[bytes]") -> None:
    await asyncio.to_thread(until_kept, stanchion)
    process.kill()
    await kill_while_it_streams(stanchion)


def sandboxes(state: Path) -> list[int]:
    """Processes that still run out of this state folder, once they had time to go."""
    left = [p for p in psutil.process_iter(["cmdline"]) if str(state) in str(p.info["cmdline"])]
    _, alive = psutil.wait_procs(left, timeout=GONE_S)
    return [process.pid for process in alive]
