"""Plays a row with a real harness in the real sandbox, by `stanchion run`."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from conformance.faults.host_acts import acting
from conformance.faults.outcome_seen import Seen
from conformance.faults.recording import WANTED, record
from conformance.faults.rows import SCALE, Harness, Row, scaled, script_of
from fakes.file_there import until_there
from fakes.rehearsal_process import rehearsing, script_in
from fakes.small_tasks import Stanchion, small_task
from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.codec import decode
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult
from stanchion.runner.results.job_folder import RESULT

KEY = "sk-of-the-lab-0123456789"
RIGHT = """\
reward=/logs/verifier/reward.txt
if grep -qx right /work/answer.txt; then echo 1 > $reward; else echo 0 > $reward; fi
"""
RUN_S = 240
LONGER = 24
"""The real harness has waits of its own, up to 70 s in all, so its thresholds shrink by less."""


@dataclass(frozen=True)
class Lab:
    """One state folder, one configuration, one port for the providers of all rows."""

    stanchion: Stanchion
    port: int

    def configure(self) -> None:
        """Profiles that differ in what a row may ask for."""
        self.mend()
        scale = SCALE / LONGER
        failing_s, silent_s = scaled(900, scale=scale), scaled(2400, scale=scale)
        watchdog = f"failing_s = {failing_s}, silent_s = {silent_s}"
        text = "version = 1\n"
        for name, extra in PROFILES.items():
            waits = extra.get("max_wait_s", "1200")
            text += f"[profiles.{name}]\nwatchdog = {{ {watchdog}, max_wait_s = {waits} }}\n"
            text += f"budget = {extra['budget']}\n" if "budget" in extra else ""
            for harness, (account, api) in ACCOUNTS.items():
                text += f"# for {harness}\n"
                text += f'[profiles.{name}.accounts.{account}]\napi = "{api}"\n'
                text += f'base_url = "http://127.0.0.1:{self.port}/v1"\n'
                text += 'credential = "file:key"\nallow_plain_http = true\n'
        (self.stanchion.folder / "stanchion.toml").write_text(text)

    def mend(self) -> None:
        """Write the key anew: a row in which it was refused has tripped its account."""
        key = self.stanchion.folder / "key"
        key.write_text(f"{KEY}\n")
        key.chmod(0o600)


ACCOUNTS = {
    Harness.OPENCODE: ("lab", "openai_chat"),
    Harness.CLAUDE_CODE: ("messages", "anthropic_messages"),
}
PROFILES: dict[str, dict[str, str]] = {
    "evals": {},
    "impatient": {"max_wait_s": "3"},
    "poor": {"budget": "{ requests = 2 }"},
}


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def task_of(row: Row, folder: Path) -> Path:
    """The row's task."""
    toml = (
        f'[environment]\nnetwork_mode = "no-network"\nmemory_mb = {row.play.memory_mb}\n'
        f"[agent]\ntimeout_sec = {row.play.agent_s}\n"
        f"[verifier]\ntimeout_sec = {row.play.verifier_s}\n"
    )
    if row.play.declares_answer:
        toml += '[metadata.stanchion]\nanswer = ["/work/answer.txt"]\n'
    return small_task(folder / "task", tests=row.play.tests or RIGHT, toml=toml)


def play(row: Row, lab: Lab, folder: Path) -> Seen:
    """The row from its launch to its result."""
    lab.mend()
    command = [
        *(sys.executable, "-m", "stanchion.runner", "run", str(task_of(row, folder))),
        *("--harness", row.harness, "--model", f"{ACCOUNTS[row.harness][0]}/scripted-1"),
        *("--profile", row.play.profile),
        *("--effort", "high", "--json", "-o", str(folder / "out")),
        *(("--context", str(row.play.context)) if row.play.context else ()),
    ]
    with (
        rehearsing(script_in(folder, script_of(row.play)), port=lab.port),
        subprocess.Popen(
            command,
            cwd=lab.stanchion.folder,
            env={**os.environ, "STANCHION_STATE": str(lab.stanchion.state)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
        acting(row.play.act, lab.stanchion.state, process, folder / "out"),
    ):
        output, errors = process.communicate(timeout=RUN_S)
    if process.returncode == -signal.SIGKILL:  # by the row; the keeper goes on without it
        (attempt,) = (folder / "out" / "attempts").iterdir()
        until_there(attempt / RESULT, timeout_s=RUN_S)
        output = (attempt / RESULT).read_bytes()
    assert output, errors.decode()
    result = decode(output, AttemptResult)
    if WANTED and result.outcome.reason is not EndReason.BROKER_LOST:
        asyncio.run(_record(row, result, StatePaths(lab.stanchion.state)))
    return seen_in(result)


async def _record(row: Row, result: AttemptResult, paths: StatePaths) -> None:
    async with BrokerClient(paths.admin_socket) as broker:
        view = await broker.run(f"{result.run}.{result.attempt}")
        await record(row, broker, view, None)


def seen_in(result: AttemptResult) -> Seen:
    """What a result says."""
    reward = (result.reward or {}).get("reward")
    return Seen(
        reason=result.outcome.reason,
        detail=result.outcome.detail,
        flags=result.outcome.flags,
        blame=result.outcome.blame,
        retry=result.outcome.retry,
        grade=result.grade,
        score=result.score,
        plain=0.0 if reward is None else reward,
    )
