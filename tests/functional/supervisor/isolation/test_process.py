"""From the word to go to the end, with real processes, without namespaces."""

import os
import signal
from pathlib import Path

import pytest

from functional.supervisor.isolation.jobs import job, open_descriptors, run, running
from stanchion.protocol.evidence import WaitStatus
from stanchion.supervisor.isolation import processes as proc
from stanchion.supervisor.isolation import start


@pytest.mark.parametrize("code", [0, 1, 127, 137, 255])
async def test_an_exit_code_is_reported(code: int) -> None:
    _, _, end = await run(f"exit {code}")
    assert end.wait == WaitStatus(exit_code=code)
    assert (end.why, end.killed_from_inside, end.namespace_empty) == (None, False, True)


@pytest.mark.parametrize("number", [1, 2, 9, 13, 15])
async def test_a_signal_is_reported_as_one(number: int) -> None:
    _, _, end = await run(f"kill -{number} $$; sleep 20")
    assert end.wait == WaitStatus(signal=number)


async def test_both_streams_and_the_environment_arrive_whole() -> None:
    out, err, _ = await run('printf %s "$NAME"; printf %s "$0" >&2')
    assert out.decode() == "ünï"
    assert err == b"sh"


async def test_the_agent_has_its_three_pipes_and_nothing_that_was_left_open(
    tmp_path: Path,
) -> None:
    with (tmp_path / "open").open("w") as left_open:
        os.set_inheritable(left_open.fileno(), True)
        out, _, _ = await run("for n in /proc/$$/fd/*; do readlink $n; done")
    assert [line.split(":")[0] for line in out.decode().split()] == ["pipe"] * 3


async def test_a_megabyte_goes_in_and_out() -> None:
    out, _, end = await run("cat", stdin=b"x" * 1_000_000)
    assert len(out) == 1_000_000
    assert end.wait == WaitStatus(exit_code=0)


async def test_leftovers_are_swept_before_the_end_is_told() -> None:
    out, _, end = await run("setsid sleep 300 & echo $!; exit 3")
    assert end.wait == WaitStatus(exit_code=3)
    assert end.namespace_empty is True
    assert not proc.is_running(int(out))


async def test_terminating_lets_the_agent_say_goodbye() -> None:
    script = "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done"
    async with running(script) as agent:
        assert await agent.stdout.readline() == b"ready\n"
        agent.terminate()
        assert await agent.stdout.readline() == b"bye\n"
        assert (await agent.wait()).wait == WaitStatus(exit_code=9)


async def test_killing_takes_the_whole_tree() -> None:
    async with running("trap '' TERM; setsid sleep 300 & echo $!; sleep 301") as agent:
        below = int(await agent.stdout.readline())
        assert {process.pid for process in agent.tree()} >= {agent.harness_pid, below}
        agent.kill()
        end = await agent.wait()
        assert end.wait == WaitStatus(signal=signal.SIGKILL)
        assert not proc.is_running(below)
        assert agent.tree() == []


async def test_signals_after_the_end_hit_nobody() -> None:
    async with running("true") as agent:
        first = await agent.wait()
        agent.terminate()
        agent.kill()
        assert await agent.wait() is first


async def test_a_shim_killed_by_the_agent_is_not_an_end_of_the_agent() -> None:
    notes: list[str] = []
    agent = await start(
        job('kill -9 "$(ps -o ppid= -p $$ | tr -d " ")"; exec sleep 20'),
        on_security=lambda what, _: notes.append(what),
    )
    await agent.release()
    end = await agent.wait()
    assert end.wait is None
    assert end.why == "the shim was ended by SIGKILL without a report"
    assert (end.killed_from_inside, end.namespace_empty) == (True, False)
    assert notes == ["shim_killed"]
    os.kill(agent.harness_pid, signal.SIGKILL)
    agent.close()


async def test_a_stopped_shim_is_continued_and_told() -> None:
    notes: list[str] = []
    agent = await start(job("read -r _; exit 4"), on_security=lambda what, _: notes.append(what))
    os.kill(agent.pid, signal.SIGSTOP)
    await agent.release()
    assert (await agent.wait()).wait == WaitStatus(exit_code=4)
    assert notes == ["shim_stopped"]
    agent.close()


async def test_two_can_run_at_once_and_each_has_its_own_end() -> None:
    async with running("read -r _; exit 5", stdin=b"\n") as one, running("exit 6") as other:
        assert (await other.wait()).wait == WaitStatus(exit_code=6)
        assert (await one.wait()).wait == WaitStatus(exit_code=5)


async def test_no_descriptor_is_left_open_after_an_end() -> None:
    await run("true")
    before = open_descriptors()
    for _ in range(3):
        await run("echo x; exit 1")
    assert open_descriptors() == before
