"""Records what the real Codex saves and prints, one JSON file a scenario, for the replay tests.

Run by hand when a version is added, with the folder of its unpacked npm package:
    PYTHONPATH=tests python -m conformance.harness.record_codex PACKAGE_DIR [SCENARIO...]
The rehearsal provider answers with the scenario's script. The instructions that stand first in
every conversation are left out of the recording: they are a file of the adapter.
"""

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

from conformance.harness import native
from conformance.harness.rehearsed import rehearsing
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.codex import Codex
from stanchion.harness_adapters.codex.config import INSTRUCTIONS, VERSION
from stanchion.protocol.dialects import Dialect

STARTED = "started"


def call(command: str) -> str:
    """A turn that runs one command."""
    arguments = json.dumps(command)
    return (
        '[[turn]]\nreasoning = "hm"\n[[turn.tool]]\nname = "exec_command"\n'
        f"arguments = {{cmd = {arguments}}}\n"
    )


def answer(more: str = "") -> str:
    """A turn that ends the run."""
    return f'[[turn]]\nreasoning = "hm"\ntext = "All done."\n{more}\n'


def failing(fault: str) -> str:
    """One whole step, then a turn with this fault."""
    return call("echo one") + answer(f"fault = {{{fault}}}")


FULL = call("echo one").replace(
    "[[turn.tool]]", "usage = {prompt_tokens = 97000, completion_tokens = 60}\n[[turn.tool]]"
)
INVALID = call("echo one").replace("cmd =", "command_line =")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the provider says."""

    meant: str
    script: str
    context: int | None = None
    terminate: bool = False
    """SIGTERM once the tool has created the file `started`."""


SCENARIOS = {
    "success": Scenario("tool step, then the answer", call("echo one") + answer()),
    "two-calls": Scenario(
        "two calls in one response, one of them fails",
        call("echo one")
        + '[[turn.tool]]\nname = "exec_command"\narguments = {cmd = "exit 3"}\n'
        + answer(),
    ),
    "empty": Scenario("thoughts and no answer", answer().replace("All done.", "")),
    "length": Scenario("a step, then a response that is cut", failing('kind = "length"')),
    "error-400": Scenario("a step, then a refusal", failing('kind = "status", status = 400')),
    "error-401": Scenario("a step, then a wrong key", failing('kind = "status", status = 401')),
    "error-429": Scenario("too many requests", failing('kind = "status", status = 429')),
    "retried": Scenario(
        "a response breaks off twice near its end, then it is whole",
        failing('kind = "cut", after = 3, times = 2'),
    ),
    "no-usage": Scenario("no token counts", failing('kind = "missing_usage"')),
    "no-finish": Scenario(
        "a stream ends without its end, twice", failing('kind = "no_finish", times = 2')
    ),
    "invalid-call": Scenario("a call with wrong arguments, then the answer", INVALID + answer()),
    "compaction": Scenario(
        "the context fills up again and again; SIGTERM after the first time",
        FULL.replace("echo one", f"[ -e once ] && touch {STARTED}; touch once; echo one"),
        context=100_000,
        terminate=True,
    ),
    "killed": Scenario(
        "SIGTERM while a tool runs", call(f"touch {STARTED}; sleep 30"), terminate=True
    ),
    "gave-up": Scenario("each response breaks off", failing('kind = "cut", after = 3')),
}


def _terminate(work: Path) -> Callable[[Popen[bytes]], None]:
    def act(process: Popen[bytes]) -> None:
        deadline = time.monotonic() + 60
        while not (work / STARTED).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()

    return act


def record(name: str, package: Path, target: Path) -> None:
    """Run one scenario and write its recording."""
    scenario = SCENARIOS[name]
    with TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder)
        work = root / "work"
        work.mkdir()
        with rehearsing("version = 1\n" + scenario.script, root) as provider:
            plan = Codex().plan(
                Settings(
                    model="future-9",
                    base_url=provider.base_url,
                    dialect=Dialect.OPENAI_RESPONSES,
                    output_limit=128_000,
                    context=scenario.context,
                    effort="max",
                    instruction="Do the task.",
                    home=str(root / "home"),
                    workdir=str(work),
                    package_dir=str(package),
                    env={"PATH": os.environ["PATH"]},
                )
            )
            meanwhile = _terminate(work) if scenario.terminate else None
            ran = native.run(plan, work, timeout_s=1200, meanwhile=meanwhile)
            requests = Counter(
                (seen["max_output_tokens"], seen["reasoning_effort"], seen["status"])
                for seen in provider.sightings()
            )
        recording = {
            "provenance": {
                "harness": f"codex {VERSION}, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": ["codex", *plan.argv[1:]],
                "scenario": scenario.meant,
            },
            "returncode": ran.returncode,
            "requests": [[*asked, times] for asked, times in requests.items()],
            "stdout": ran.stdout.decode().splitlines(),
            "rows": ran.rows,
        }
    text = json.dumps(recording, indent=1, ensure_ascii=False)
    text = without_instructions(text, package)
    text = text.replace(folder, "/scratch").replace(provider.base_url, "http://127.0.0.1:1")
    text = re.sub(r"codex-arg0\w+", "codex-arg0", text.replace(str(package), "/package"))
    (target / f"{name}.json").write_text(text + "\n")
    print(name, "exit", ran.returncode, "requests", requests.total())  # noqa: T201


def without_instructions(text: str, package: Path) -> str:
    """The recording without what stands first in every conversation, a file of the package."""
    instructions = (package / INSTRUCTIONS).read_text()
    left_out = json.dumps(json.dumps(instructions, ensure_ascii=False), ensure_ascii=False)
    return text.replace(left_out[3:-3], "(left out)")


def main() -> None:
    package, *names = sys.argv[1:]
    target = Path(__file__).parent / f"codex-{VERSION}"
    target.mkdir(exist_ok=True)
    for name in names or SCENARIOS:
        record(name, Path(package).resolve(), target)


if __name__ == "__main__":
    main()
