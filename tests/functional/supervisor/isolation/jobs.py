"""Jobs without namespaces, for the tests of this folder."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from stanchion.protocol.launch import Isolation
from stanchion.supervisor.isolation import AgentProcess, Job, ProcessEnd, start

ENV = {"PATH": os.environ["PATH"], "NAME": "ünï"}


def job(script: str, **changed: Any) -> Job:
    plain: dict[str, Any] = {
        "argv": ("sh", "-c", script),
        "env": ENV,
        "cwd": "/",
        "uid": os.getuid(),
        "isolation": Isolation.NONE,
    }
    return Job(**(plain | changed))


@asynccontextmanager
async def running(script: str, **changed: Any) -> AsyncIterator[AgentProcess]:
    agent = await start(job(script, **changed))
    try:
        await agent.release()
        yield agent
    finally:
        agent.kill()
        await agent.wait()
        agent.close()


async def run(script: str, **changed: Any) -> tuple[bytes, bytes, ProcessEnd]:
    async with running(script, **changed) as agent:
        out, err = await agent.stdout.read(), await agent.stderr.read()
        return out, err, await agent.wait()


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}
