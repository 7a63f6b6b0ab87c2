"""Up to the word to go, with real processes, without namespaces (a `process` sandbox; no root)."""

import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from functional.supervisor.isolation.jobs import ENV, job, open_descriptors, run, running
from stanchion.protocol.launch import Isolation
from stanchion.supervisor.isolation import IsolationError, start


async def test_without_isolation_there_is_no_check_and_no_claim_of_one() -> None:
    async with running("true") as agent:
        assert agent.checks == {}
        assert agent.mode is Isolation.NONE


async def test_an_order_larger_than_a_pipe_arrives() -> None:
    out, _, _ = await run('echo "${#BIG}"', env=ENV | {"BIG": "b" * 100_000})
    assert out == b"100000\n"


async def test_nothing_runs_before_the_release(tmp_path: Path) -> None:
    agent = await start(job("touch ran", cwd=str(tmp_path)))
    assert psutil.Process(agent.harness_pid).cmdline()[-1].endswith("shim.py"), (
        "the agent's process waits as a fork of its shim"
    )
    await agent.abandon()
    assert os.listdir(tmp_path) == []  # noqa: PTH208 not a blocking path method in a coroutine
    end = await agent.wait()
    assert (end.wait, end.why) == (None, "never started: the supervisor gave it up")
    assert not psutil.pid_exists(agent.pid)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"argv": ("/no/such/program",)}, "executing /no/such/program failed: No such file"),
        ({"argv": ("/etc/passwd",)}, "executing /etc/passwd failed: Permission denied"),
        ({"cwd": "/no/such/folder"}, "entering /no/such/folder failed: No such file"),
    ],
)
async def test_what_keeps_a_program_from_starting_is_named(
    changed: dict[str, Any], why: str
) -> None:
    _, _, end = await run("true", **changed)
    assert end.wait is None
    assert end.why is not None
    assert end.why.startswith(why)
    assert (end.killed_from_inside, end.namespace_empty) == (False, True)


async def test_a_nul_in_the_job_is_refused_before_anything_starts() -> None:
    with pytest.raises(IsolationError, match="NUL"):
        await start(job("true", env={"A": "b\0c"}))


async def test_a_missing_folder_to_hide_is_refused_before_anything_starts() -> None:
    with pytest.raises(IsolationError, match="must exist before the start"):
        await start(job("true", hidden=("/no/such/folder",)))


async def test_an_interpreter_that_is_none_leaves_nothing_behind() -> None:
    before = open_descriptors()
    with pytest.raises(IsolationError, match=r"cannot be started by .no.such.python"):
        await start(job("true"), interpreter=("/no/such/python",))
    assert open_descriptors() == before


async def test_a_shim_that_ends_early_is_an_error_and_is_reaped() -> None:
    children = psutil.Process().children()
    with pytest.raises(IsolationError, match="the shim ended before it reported checked"):
        await start(job("true"), interpreter=("/bin/true",))
    assert psutil.Process().children() == children


async def test_the_shim_runs_with_the_supervisors_interpreter_and_no_environment() -> None:
    async with running("read -r _; sleep 20", stdin=b"") as agent:
        shim = psutil.Process(agent.pid)
        assert shim.cmdline()[:3] == [sys.executable, "-I", "-S"]
        assert shim.environ() == {}
