"""Process 1 of the tests' sandbox: runs trials through the isolation package, reports each.

Executed with the bundle's interpreter; it finds the bundle's packages as the real entry does.
"""

import asyncio
import dataclasses
import json
import os
import socket
import sys
import time
from pathlib import Path

sys.path += ["/opt/stanchion/app", "/opt/stanchion/lib/python3.11/site-packages"]

from stanchion.supervisor.isolation import AgentProcess, Job, processes, start

HELD = Path("/run/stanchion/enrol.token").read_text()
"""In this process's memory for the whole run, like a token."""
SHOWN_BYTES = 100_000
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def reaches(name: str) -> bool:
    attempt = socket.socket(socket.AF_UNIX)
    try:
        attempt.connect(f"/run/stanchion/{name}")
    except OSError:
        return False
    finally:
        attempt.close()
    return True


def job(trial: dict) -> Job:
    interpreter = ("/usr/bin/python3", "-") if trial["python"] else ("/bin/bash", "-c")
    argv = trial["argv"] or (*interpreter[:1], "-c", trial["script"])
    return Job(
        argv=tuple(argv),
        env={"PATH": PATH, "HOME": "/root", "BIG": "é" * (trial["env_bytes"] // 2)},
        cwd="/",
        uid=trial["uid"],
        stdin=b"x" * trial["stdin_bytes"],
        hidden=tuple(trial["hidden"]),
    )


class Output:
    """Reads a stream to its end, and lets steps wait for a line."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self.data = bytearray()
        self.size = 0
        self._more = asyncio.Event()

    async def pump(self) -> None:
        while chunk := await self._stream.read(65536):
            self.size += len(chunk)
            self.data += chunk[: SHOWN_BYTES - len(self.data)]
            self._more.set()

    async def line(self, text: str) -> None:
        while text.encode() + b"\n" not in self.data:
            self._more.clear()
            await self._more.wait()


async def step(agent: AgentProcess, out: Output, word: str) -> None:
    if word.startswith("line "):
        await asyncio.wait_for(out.line(word.removeprefix("line ")), 30)
    elif word == "stop_shim":
        os.kill(agent.pid, 19)
    elif word == "terminate":
        agent.terminate()
    else:
        agent.kill()


async def run(trial: dict) -> dict:
    notes: list[tuple[str, str]] = []
    began = time.monotonic()
    agent = await start(job(trial), on_security=lambda what, detail: notes.append((what, detail)))
    checked = time.monotonic()
    result = {"name": trial["name"], "checks": agent.checks, "mode": str(agent.mode)}
    if trial["abandon"]:
        await agent.abandon()
        end = await agent.wait()
        out = err = Output(agent.stdout)
        released = checked
    else:
        await agent.release()
        released = time.monotonic()
        out, err = Output(agent.stdout), Output(agent.stderr)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(out.pump())
            tasks.create_task(err.pump())
            for word in trial["do"]:
                await step(agent, out, word)
            end = await asyncio.wait_for(agent.wait(), 60)
            ended = time.monotonic()
    return result | {
        "start_s": round(checked - began, 4),
        "exec_s": round(released - checked, 4),
        "run_s": round((ended if not trial["abandon"] else checked) - released, 4),
        "end": json.loads(json.dumps(dataclasses.asdict(end), default=_struct)),
        "stdout": out.data.decode("utf-8", "replace"),
        "stdout_bytes": out.size,
        "stderr": err.data.decode("utf-8", "replace"),
        "notes": notes,
        "left": [pid for pid in processes.numbers() if pid != os.getpid()],
    }


def _struct(value: object) -> dict:
    return {name: getattr(value, name) for name in value.__struct_fields__}


async def run_all(trials: list[dict]) -> None:
    for trial in trials:
        try:
            result = await run(trial)
        except Exception as failed:  # noqa: BLE001 a broken trial is a result
            result = {"name": trial["name"], "failed": repr(failed)}
        say(result)


def say(line: dict) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    spool = Path("/run/stanchion-spool/spool")
    spool.parent.mkdir()
    spool.write_text(HELD)
    reached = {name: reaches(name) for name in ("model.sock", "control.sock")}
    asyncio.run(run_all(json.loads(Path("/run/stanchion/trials.json").read_text())))
    last = {
        "reached_first": reached,
        "reached_last": {name: reaches(name) for name in reached},
        "spool": spool.read_text() == HELD,
        "bundle": sorted(path.name for path in Path("/opt/stanchion").iterdir()),
        "left": [pid for pid in processes.numbers() if pid != os.getpid()],
    }
    say(last)


main()
