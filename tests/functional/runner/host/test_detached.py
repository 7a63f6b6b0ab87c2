"""Processes that outlive their starter."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stanchion.runner.host.detached import EXTRA_FD, exit_code, reading, spawn_detached

STARTER = """
import os, sys
from stanchion.runner.host.detached import spawn_detached
nothing = os.open(os.devnull, os.O_RDWR)
code = "import sys, os; os.write(3, b'x'); sys.stdin.read()"
fds = {"stdin": 0, "stdout": nothing, "stderr": nothing, "extra": int(sys.argv[1])}
print(spawn_detached(["-c", code], environment=os.environ, **fds))
"""


def test_a_detached_process_outlives_its_starter() -> None:
    ready, its_ready = os.pipe()
    its_stdin, stdin = os.pipe()
    done = subprocess.run(
        [sys.executable, "-c", STARTER, str(its_ready)],
        stdin=its_stdin,
        stdout=subprocess.PIPE,
        pass_fds=[its_ready],
        timeout=30,
        check=True,
    )
    process = psutil.Process(int(done.stdout))
    os.close(its_stdin)
    os.close(its_ready)

    assert os.read(ready, 1) == b"x"
    assert process.is_running()
    assert os.getsid(process.pid) == process.pid
    os.close(stdin)  # its input ends, and so does it
    assert os.read(ready, 1) == b""
    os.close(ready)


async def test_it_has_these_descriptors_and_no_other(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as secret:
        assert secret.fileno() > EXTRA_FD
        listing, its_listing = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        code = "import os; os.write(1, ' '.join(sorted(os.listdir('/proc/self/fd'))).encode())"
        os.set_inheritable(secret.fileno(), True)
        pid = spawn_detached(
            ["-c", code],
            environment={},
            stdin=nothing,
            stdout=its_listing,
            stderr=its_listing,
            extra=nothing,
        )
        os.close(its_listing)
        os.close(nothing)
    async with reading(listing, limit_bytes=1000) as reader:
        listed = (await reader.read()).decode().split()

    assert await exit_code(pid) == 0
    assert listed[:4] == ["0", "1", "2", "3"]
    assert len(listed) == 5  # and the listing's own


async def test_a_pipe_is_closed_behind_its_reader_although_more_may_come() -> None:
    end, others = os.pipe()
    os.write(others, b"ready\n")
    async with reading(end, limit_bytes=1000) as reader:
        assert await reader.readline() == b"ready\n"
    await asyncio.sleep(0)  # the loop closes it in its next turn
    with pytest.raises(BrokenPipeError):
        os.write(others, b"more\n")
    os.close(others)


async def test_a_signal_is_a_negative_exit_code() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    pid = spawn_detached(
        ["-c", "import os; os.kill(os.getpid(), 9)"],
        environment={},
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    )
    os.close(nothing)

    assert await asyncio.wait_for(exit_code(pid), 30) == -9
