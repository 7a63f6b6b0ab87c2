"""Records what a real harness prints, one JSON file a scenario, for the replay tests.

For harnesses whose session is read from their standard output. Run by hand when a version is added:
    PYTHONPATH=tests python -m conformance.harness.record_printed HARNESS [SCENARIO...]
The rehearsal provider answers with the scenario's script.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.harness import rehearsed
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.images.harness_store import ensure_harness
from stanchion.images.host import default_cache_dir
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect

DONE = '[[turn]]\ntext = "All done."\n'
CUT = '[[turn]]\ntext = "I think and"\nfinish = "length"\n'
THINKS = '[[turn]]\nreasoning = "I think and"\nfinish = "length"\n'
EMPTY = '[[turn]]\nreasoning = "hm"\nfinish = "stop"\n'
REFUSED = '[[turn]]\nfault = {kind = "status", status = 400}\n'
BROKEN = '[[turn]]\nreasoning = "hm"\ntext = "I am writing"\nfault = {kind = "cut", after = 3}\n'


ONCE = '[[turn]]\ntext = "All done."\nfault = {kind = "status", status = 500, times = 1}\n'


def call(name: str, arguments: str, *, turn: str = "") -> str:
    """A turn that thinks and calls one tool."""
    tool = f'[[turn.tool]]\nname = "{name}"\narguments = {arguments}\n'
    return f'[[turn]]\nreasoning = "hm"\n{turn}{tool}'


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the provider says."""

    meant: str
    script: str


@dataclass(frozen=True, slots=True)
class Program:
    """A harness's own words for the tools of the scenarios."""

    dialect: Dialect
    shell: str = '{command = "echo one", description = "do it"}'
    more: dict[str, Scenario] = field(default_factory=dict)
    """Scenarios of its own, above the common ones of the same name."""

    def scenarios(self) -> dict[str, Scenario]:
        """All of them."""
        work = call("bash", self.shell)
        return {
            "success": Scenario("tool step, then the answer", work + DONE),
            "length": Scenario("each answer is cut at its limit", CUT * 9),
            "thoughts-cut": Scenario("thoughts that are cut, and no answer", THINKS * 9),
            "error-400": Scenario("a tool step, then the provider refuses", work + REFUSED),
            "empty": Scenario("thoughts and no answer", EMPTY * 9),
            "broken": Scenario("each stream breaks off", BROKEN),
            "invalid-tool": Scenario(
                "a call with wrong arguments, then the answer",
                call("bash", "{wrong = true}") + DONE,
            ),
            **self.more,
        }


_AGENT = '{agent_name = "generalist", prompt = "do the sub-task"}'
_TODOS = '{todos = [{id = "1", content = "write it", status = "in_progress"}]}'
_SUB = '{description = "sub", prompt = "do the sub-task", subagent_type = "general-purpose"}'
PROGRAMS = {
    "gemini_cli": Program(
        dialect=Dialect.GEMINI,
        more={"sub-agent": Scenario("a sub-agent fails", call("invoke_agent", _AGENT) + DONE)},
    ),
    "pi": Program(
        dialect=Dialect.OPENAI_CHAT,
        shell='{command = "echo one"}',
        more={
            "error-500-once": Scenario("an error of the provider, then the answer", ONCE),
        },
    ),
    "qwen_code": Program(
        dialect=Dialect.OPENAI_CHAT,
        shell='{command = "echo one", description = "do it", is_background = false}',
        more={
            "task-list": Scenario("a task list is written", call("todo_write", _TODOS) + DONE),
            "sub-agent": Scenario("a sub-agent fails", call("agent", _SUB) + DONE),
        },
    ),
}


def record(name: str, scenario_name: str, target: Path) -> None:
    """Run one scenario and write its recording."""
    program, adapter = PROGRAMS[name], registry.adapter(name)
    version = adapter.versions[-1]
    package = ensure_harness(default_cache_dir(), name, version)
    scenario = program.scenarios()[scenario_name]
    settings = Settings(
        model="future-9", base_url="", dialect=program.dialect, output_limit=128_000,
        context=None, effort=EFFORT_WORDS[program.dialect][-1],
        instruction="Do the task.", home="", workdir="", package_dir="", env={},
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        run = rehearsed.run(adapter, package, scenario.script, settings, Path(folder))
        requests = [
            [
                seen["max_tokens"] or seen["max_output_tokens"], seen["reasoning_effort"],
                seen["stream"], seen["status"],
            ]
            for seen in run.seen
        ]  # fmt: skip
        recording = {
            "provenance": {
                "harness": f"{name} {version}, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": [name, *run.plan.argv[2:]],
                "scenario": scenario.meant,
            },
            "returncode": run.ran.returncode,
            "requests": requests,
            "rows": run.ran.rows,
            "stdout": run.ran.stdout.decode().splitlines(),
        }
        text = json.dumps(recording, indent=1, ensure_ascii=False)
        text = text.replace(folder, "/scratch").replace(run.base_url, "http://127.0.0.1:1")
    text = re.sub(re.escape(folder.replace("/", "-").replace("_", "-")), "-scratch", text)
    (target / f"{scenario_name}.json").write_text(text + "\n")
    print(name, scenario_name, "exit", run.ran.returncode, "requests", len(requests))  # noqa: T201 - told to the person who records


def main() -> None:
    name, *names = sys.argv[1:]
    version = registry.adapter(name).versions[-1]
    target = Path(__file__).parent / f"{name.replace('_', '-')}-{version}"
    target.mkdir(exist_ok=True)
    for scenario in names or PROGRAMS[name].scenarios():
        record(name, scenario, target)


if __name__ == "__main__":
    main()
