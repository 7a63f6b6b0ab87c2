"""Records what the real Claude Code prints, one JSON file a scenario, for the replay tests.

Run by hand when a version is added, with the folder of its unpacked npm package:
    PYTHONPATH=tests python -m conformance.harness.record_claude_code PACKAGE_DIR [SCENARIO...]
The rehearsal provider answers with the scenario's script.
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.harness import native
from conformance.harness.rehearsed import rehearsing
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.claude_code import ClaudeCode
from stanchion.harness_adapters.claude_code.config import VERSION
from stanchion.protocol.dialects import Dialect

ARGUMENTS = '{command = "echo one", description = "do it"}'
BASH = f'[[turn]]\nreasoning = "hm"\n[[turn.tool]]\nname = "Bash"\narguments = {ARGUMENTS}\n'
FULL = BASH.replace(
    "[[turn.tool]]", "usage = {prompt_tokens = 97000, completion_tokens = 60}\n[[turn.tool]]"
)
DONE = '[[turn]]\ntext = "All done."\n'
CUT = '[[turn]]\ntext = "I think and"\nfinish = "length"\n'
EMPTY = '[[turn]]\nreasoning = "hm"\nfinish = "stop"\n'
GONE = '[[turn]]\nfault = {kind = "status", status = 404, times = 1}\n' + DONE.split("\n", 1)[1]
REFUSED = '[[turn]]\nfault = {kind = "status", status = 400}\n'
BROKEN = '[[turn]]\nreasoning = "hm"\ntext = "I am writing"\nfault = {kind = "cut", after = 6}\n'


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the provider says."""

    meant: str
    script: str
    context: int | None = None


SCENARIOS = {
    "success": Scenario("tool step, then the answer", BASH + DONE),
    "length": Scenario("each answer is cut at its limit", CUT * 5),
    "length-once": Scenario("one answer is cut, the next is whole", CUT + DONE),
    "error-400": Scenario("a tool step, then the provider refuses", BASH + REFUSED),
    "empty": Scenario("thoughts and no answer, twice", EMPTY),
    "broken": Scenario("each stream breaks off", BROKEN),
    "fallback": Scenario("a 404, then the same without a stream", GONE),
    "compaction": Scenario("the context fills up, again and again", FULL + DONE, context=100_000),
}


def record(name: str, package: Path, target: Path) -> None:
    """Run one scenario and write its recording."""
    scenario = SCENARIOS[name]
    with TemporaryDirectory() as folder:
        root = Path(folder)
        work = root / "work"
        work.mkdir()
        with rehearsing("version = 1\n" + scenario.script, root) as provider:
            plan = ClaudeCode().plan(
                Settings(
                    model="future-9",
                    base_url=provider.base_url,
                    dialect=Dialect.ANTHROPIC_MESSAGES,
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
            ran = native.run(plan, work, timeout_s=120)
            requests = [
                [seen["max_tokens"], seen["reasoning_effort"], seen["stream"], seen["status"]]
                for seen in provider.sightings()
            ]
        recording = {
            "provenance": {
                "harness": f"claude_code {VERSION}, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": ["claude", *plan.argv[1:]],
                "scenario": scenario.meant,
            },
            "returncode": ran.returncode,
            "requests": requests,
            "stdout": ran.stdout.decode().splitlines(),
        }
        text = json.dumps(recording, indent=1, ensure_ascii=False)
        text = text.replace(folder, "/scratch").replace(provider.base_url, "http://127.0.0.1:1")
    text = re.sub(r"/tmp/(?:claude-|cc-)[^\"\\ ]*", "/scratch/tmp", text)
    text = text.replace(folder.replace("/", "-").replace("_", "-"), "-scratch")
    (target / f"{name}.json").write_text(text + "\n")
    print(name, "exit", ran.returncode, "requests", len(requests))  # noqa: T201


def main() -> None:
    package, *names = sys.argv[1:]
    target = Path(__file__).parent / f"claude-code-{VERSION}"
    target.mkdir(exist_ok=True)
    for name in names or SCENARIOS:
        record(name, Path(package).resolve(), target)


if __name__ == "__main__":
    main()
