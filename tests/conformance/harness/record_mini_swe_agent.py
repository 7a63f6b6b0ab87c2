"""Records what the real mini-swe-agent saves, one JSON file a scenario, for the replay tests.

Run by hand when a version is added, as root, with it in the harness store:
    PYTHONPATH=tests python -m conformance.harness.record_mini_swe_agent [SCENARIO...]
The rehearsal provider answers with the scenario's script. Of the trajectory the messages are kept,
which hold everything that is read; of the rest, its end.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.harness import native
from conformance.harness.rehearsed import rehearsing
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.mini_swe_agent import MiniSweAgent
from stanchion.harness_adapters.mini_swe_agent.config import VERSION
from stanchion.images.harness_store import ensure_harness
from stanchion.images.host import default_cache_dir
from stanchion.protocol.dialects import Dialect

BASH = '[[turn]]\nreasoning = "hm"\n[[turn.tool]]\nname = "bash"\narguments.command = "{}"\n'
WORK = BASH.format("echo one")
SUBMIT = 'text = "All done."\n'.join(
    BASH.format("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT").split('reasoning = "hm"\n')
)
TALK = '[[turn]]\ntext = "I would rather talk."\n'
CUT = '[[turn]]\ntext = "I think and"\nfinish = "length"\n'
EMPTY = '[[turn]]\nreasoning = "hm"\nfinish = "stop"\n'
REFUSED = '[[turn]]\nfault = {{kind = "status", status = {}}}\n'
BROKEN = SUBMIT.replace(
    "[[turn.tool]]", 'fault = {kind = "cut", after = 2, times = 1}\n[[turn.tool]]'
)
SLOW = BASH.format("touch begun; sleep 300")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the provider says."""

    meant: str
    script: str
    dialect: Dialect = Dialect.OPENAI_CHAT
    killed: bool = False


ANTHROPIC = Dialect.ANTHROPIC_MESSAGES
SCENARIOS = {
    "success": Scenario("a command, then the submission", WORK + SUBMIT),
    "success-anthropic": Scenario("the same over Anthropic's messages", WORK + SUBMIT, ANTHROPIC),
    "length": Scenario("each answer is cut at its limit", WORK + CUT),
    "length-anthropic": Scenario("the same over Anthropic's messages", WORK + CUT, ANTHROPIC),
    "empty": Scenario("thoughts and no answer, each time", WORK + EMPTY),
    "no-command": Scenario("text without a command, each time", WORK + TALK),
    "broken": Scenario("the first document breaks off", BROKEN),
    "error-401": Scenario("a command, then the key is refused", WORK + REFUSED.format(401)),
    "error-400": Scenario("a command, then refusals until it gives up", WORK + REFUSED.format(400)),
    "killed": Scenario("terminated while a command runs", WORK + SLOW, killed=True),
}


def record(name: str, target: Path) -> None:
    """Run one scenario and write its recording."""
    scenario = SCENARIOS[name]
    package = ensure_harness(default_cache_dir(), "mini_swe_agent", VERSION)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        work = root / "work"
        work.mkdir()
        with rehearsing("version = 1\n" + scenario.script, root) as provider:
            plan = MiniSweAgent().plan(
                Settings(
                    model="future-9",
                    base_url=provider.base_url,
                    dialect=scenario.dialect,
                    output_limit=128_000,
                    context=None,
                    effort="max",
                    instruction="Do the task.",
                    home=str(root / "home"),
                    workdir=str(work),
                    package_dir=native.place(package),
                    env={"PATH": os.environ["PATH"]},
                )
            )
            ran = native.run(
                plan,
                work,
                timeout_s=500,
                package=package,
                meanwhile=_killer(work) if scenario.killed else None,
            )
            requests = [
                [
                    seen["max_tokens"], seen["max_completion_tokens"], seen["reasoning_effort"],
                    seen["stream"], seen["status"],
                ]
                for seen in provider.sightings()
            ]  # fmt: skip
        saved = json.loads(ran.rows[0][0]) if ran.rows else None  # type: ignore[arg-type]
        recording = {
            "provenance": {
                "harness": f"mini_swe_agent {VERSION} on litellm 1.110.2, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": ["python", *plan.argv[1:]],
                "scenario": scenario.meant,
            },
            "returncode": ran.returncode,
            "requests": requests,
            "exit_status": saved and saved["info"]["exit_status"],
            "messages": saved and [shortened(message) for message in saved["messages"]],
        }
        text = json.dumps(recording, indent=1, ensure_ascii=False)
    text = text.replace(folder, "/scratch").replace(provider.base_url, "http://127.0.0.1:1")
    (target / f"{name}.json").write_text(text + "\n")
    print(name, "exit", ran.returncode, "requests", len(requests))  # noqa: T201


def shortened(message: dict[str, object]) -> dict[str, object]:
    """Its own prompts are long and the harness's, tracebacks name places of this machine."""
    if message["role"] in {"system", "user"} and isinstance(message.get("content"), str):
        message["content"] = str(message["content"])[:200]
    extra = message.get("extra")
    if isinstance(extra, dict):
        extra.pop("traceback", None)
        extra.pop("model_response", None)
    return message


def _killer(work: Path) -> Callable[[subprocess.Popen[bytes]], None]:
    def kill(process: subprocess.Popen[bytes]) -> None:
        while not (work / "begun").exists() and process.poll() is None:
            time.sleep(0.1)  # by hand, on an idle machine: nobody tells of the command's start
        process.send_signal(signal.SIGTERM)

    return kill


def main() -> None:
    target = Path(__file__).parent / f"mini-swe-agent-{VERSION}"
    target.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SCENARIOS:
        record(name, target)


if __name__ == "__main__":
    main()
