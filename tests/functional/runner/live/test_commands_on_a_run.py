"""Commands on an attempt that runs: a real keeper and broker, each command a process of its own."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.running import Running, running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.events import Stage, StageChanged, StageState
from stanchion.runner.keeper.order import Order
from stanchion.runner.results.job_folder import read_results

pytestmark = pytest.mark.timeout(90)


def command(paths: StatePaths, *words: str) -> list[str]:
    return [sys.executable, "-m", "stanchion.runner", *words, "--state-dir", str(paths.root)]


async def told(paths: StatePaths, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    done = await asyncio.to_thread(
        subprocess.run, command(paths, *words), capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


async def started(paths: StatePaths, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command(paths, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def lines_until(stream: asyncio.StreamReader | None, word: str) -> str:
    assert stream is not None
    seen = ""
    while word not in seen:
        line = await stream.readline()
        assert line, seen
        seen += line.decode()
    return seen


async def seen_from_outside(attempt: Running, paths: StatePaths) -> None:
    """Something that a watcher prints, so that a test knows that it watches."""
    async with BrokerClient(paths.admin_socket) as broker:
        failed = StageChanged(stage=Stage.ROOTFS, state=StageState.FAILED, detail="a sign")
        await broker.note(attempt.id, failed)


async def test_ps_and_show_tell_of_what_runs(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        run = attempt.id.partition(".")[0]
        _, listed, _ = await told(paths, "ps")
        _, ids, _ = await told(paths, "ps", "-q")
        code, text, _ = await told(paths, "show", run[:6])
        _, document, _ = await told(paths, "show", run, "--json")
        nothing_there = await told(paths, "attach", order.task_folder)

    assert nothing_there[0] == 1
    assert "no attempt that writes its results there is running" in nothing_there[2]
    assert attempt.id in listed
    assert "running" in listed
    assert ids == f"{attempt.id}\n"
    assert code == 0
    assert "RUNS   sandbox" in text
    assert f"stanchion attach {attempt.id}" in text
    shown = json.loads(document)
    assert (shown["state"], shown["score"], shown["outcome"]) == ("open", None, None)


async def test_after_its_end_its_name_still_leads_to_everything(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        attempt.let_go()
        code, _, _ = await told(paths, "logs", "-f", attempt.id)
    _, text, _ = await told(paths, "show", attempt.id)
    _, listed, _ = await told(paths, "ps")
    async with BrokerClient(paths.admin_socket) as broker:
        await broker.stop()
    _, without_broker, _ = await told(paths, "show", attempt.id)

    assert code == 0
    assert "ENDED  supervisor_lost" in text
    assert "stanchion rerun" in text
    assert "supervisor_lost" in listed
    assert without_broker == text


async def test_cancel_ends_it_by_its_keepers_hand_and_waits(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        cancelled = await told(paths, "cancel", attempt.id)
        again = await told(paths, "cancel", attempt.id)

    assert cancelled == (0, f"{attempt.id} ended cancelled\n", "")
    assert again[0] == 2
    assert "it has ended (cancelled)" in again[2]
    (result,) = read_results(attempt.folder)
    assert result.outcome.reason == "cancelled"


async def test_attach_shows_it_to_its_end_even_if_an_earlier_watcher_was_killed(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        killed = await started(paths, "attach", attempt.id)
        await seen_from_outside(attempt, paths)
        await lines_until(killed.stderr, "rootfs    FAILED a sign")
        killed.kill()
        await killed.wait()
        watcher = await started(paths, "attach", attempt.id)
        await lines_until(watcher.stderr, "rootfs    FAILED a sign")
        attempt.let_go()
        output, _ = await watcher.communicate()

    assert watcher.returncode == 1  # its score is withheld
    assert b"ENDED  supervisor_lost" in output


async def test_off_a_terminal_an_interrupt_of_the_watcher_cancels(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        watcher = await started(paths, "attach", str(tmp_path))
        await seen_from_outside(attempt, paths)
        await lines_until(watcher.stderr, "a sign")
        watcher.terminate()
        output, errors = await watcher.communicate()

    assert watcher.returncode == 130
    assert b"cancelling" in errors
    assert b"ENDED  cancelled" in output


async def test_a_second_attempt_below_the_folder_is_watched_too(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    (tmp_path / "second" / "result").mkdir(parents=True)
    request = msgspec.structs.replace(order.open_run, run="1" * 12)
    other = msgspec.structs.replace(
        order,
        open_run=request,
        result_folder=str(tmp_path / "second" / "result"),
        sandbox_id="cd" * 16,
    )
    async with (
        running(order, paths, tmp_path) as one,
        running(other, paths, tmp_path / "second") as two,
    ):
        watcher = await started(paths, "attach", str(tmp_path))
        await lines_until(watcher.stderr, "2 attempts run below")
        one.let_go()
        two.let_go()
        _, errors = await watcher.communicate()

    assert watcher.returncode == 1
    assert f"{one.id} ended supervisor_lost" in errors.decode()
    assert f"{two.id} ended supervisor_lost" in errors.decode()


async def test_a_name_that_names_nothing_is_one_sentence(paths: StatePaths, tmp_path: Path) -> None:
    code, output, errors = await told(paths, "show", "not-a-run", "--json")

    assert code == 2
    assert "Traceback" not in errors
    assert json.loads(output)["error"]["id"] == "run_unknown"
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing was made, not even the state folder
