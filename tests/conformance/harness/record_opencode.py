"""Records what the real OpenCode saves, one JSON file a scenario, for the replay tests.

Run by hand when a version is added, with the folder of its unpacked npm package:
    PYTHONPATH=tests python -m conformance.harness.record_opencode PACKAGE_DIR [SCENARIO...]
The provider below answers each request with the scenario's next turn: `root` for the main session,
`child` for a sub-agent (it is not offered the task tool), `plain` for requests without tools.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from threading import Thread

from conformance.harness import native
from fakes.file_there import until_there
from stanchion.harness_adapters.base import Plan, Settings
from stanchion.harness_adapters.opencode import OpenCode
from stanchion.harness_adapters.opencode.config import VERSION
from stanchion.protocol.dialects import Dialect

MODEL = "future-9"
STARTED = "started"
Call = tuple[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the provider."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = "stop"
    prompt_tokens: int = 100
    status: int = 200


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the provider says, and what else is different from a plain launch."""

    root: tuple[Turn, ...]
    child: tuple[Turn, ...] = ()
    plain: tuple[Turn, ...] = ()
    context: int | None = None
    ask: bool = False
    """Leave the bash tool's permission to a person, of whom there is none."""
    terminate: bool = False
    """SIGTERM once the tool has created the file `started`."""
    meant: str = ""


def _call(name: str, **arguments: object) -> Turn:
    return Turn(reasoning=f"I need {name}.", calls=((name, arguments),), finish="tool_calls")


def _bash(command: str) -> Turn:
    return _call("bash", command=command, description="do it")


def _todo(first: str, second: str) -> Turn:
    items = [
        {"content": "write the file", "status": first, "priority": "high"},
        {"content": "ask a sub-agent", "status": second, "priority": "low"},
    ]
    return _call("todowrite", todos=items)


DONE = Turn(text="All done.")
SCENARIOS = {
    "success": Scenario(
        meant="tool step, task list, sub-agent, final text",
        root=(
            _bash("echo one > one.txt; cat one.txt"),
            _todo("completed", "in_progress"),
            _call("task", description="sub", prompt="do the sub-task", subagent_type="general"),
            _todo("completed", "completed"),
            Turn(reasoning="Nothing is left.", text="All done."),
        ),
        child=(_bash("echo from the sub-agent"), Turn(text="The sub-task is done.")),
    ),
    "length": Scenario(
        meant="the only answer is cut at its limit while it still thinks",
        root=(Turn(reasoning="I think and think", finish="length"),),
    ),
    "killed": Scenario(
        meant="SIGTERM while a tool runs",
        root=(_bash(f"touch {STARTED}; sleep 20"), DONE),
        terminate=True,
    ),
    "error-400": Scenario(
        meant="a tool step, then the provider refuses the request",
        root=(_bash("echo one"), Turn(status=400)),
    ),
    "unknown-finish": Scenario(
        meant="two streams that end without a finish reason, then a good one",
        root=(Turn(text="Hel", finish=None), Turn(text="Hel", finish=None), DONE),
    ),
    "invalid-tool": Scenario(
        meant="a call of a tool that does not exist, a call with wrong arguments, then the answer",
        root=(_call("nonexistent_tool", a=1), _call("bash", wrong=True), DONE),
    ),
    "empty": Scenario(meant="a stop with nothing in it", root=(Turn(),)),
    "content-filter": Scenario(
        meant="the provider withholds the answer", root=(Turn(finish="content_filter"),)
    ),
    "rejected": Scenario(
        meant="a permission is asked for and nobody is there: OpenCode rejects it and exits 0",
        root=(_bash("echo one"), DONE),
        ask=True,
    ),
    "compaction": Scenario(
        meant="the context fills up, OpenCode summarises and goes on",
        root=(
            replace(_bash("echo one"), prompt_tokens=39_000),
            DONE,
        ),
        plain=(Turn(text="Summary: one was echoed."),),
        context=40_000,
    ),
}


@dataclass(slots=True)
class Stage:
    """How far a scenario is."""

    scenario: Scenario
    asked: dict[str, int] = field(default_factory=dict)

    def turn(self, body: dict[str, object]) -> Turn:
        """The next answer for this kind of request; the last one again once all are said."""
        offered = body.get("tools")
        names = [tool["function"]["name"] for tool in offered] if isinstance(offered, list) else []
        kind = "root" if "task" in names else "child" if names else "plain"
        turns: tuple[Turn, ...] = getattr(self.scenario, kind) or (DONE,)
        position = self.asked.get(kind, 0)
        self.asked[kind] = position + 1
        return turns[min(position, len(turns) - 1)]


def _chunks(turn: Turn) -> Iterator[dict[str, object]]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}

    def choice(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield choice({"role": "assistant", "content": ""})
    if turn.reasoning:
        yield choice({"reasoning_content": turn.reasoning})
    if turn.text:
        yield choice({"content": turn.text})
    for index, (name, arguments) in enumerate(turn.calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{name}_{index}", "type": "function"}
        yield choice({"tool_calls": [{**call, "function": function}]})
    if turn.finish is not None:
        yield choice({}, turn.finish)
        usage = {"prompt_tokens": turn.prompt_tokens, "completion_tokens": 20}
        yield {**head, "choices": [], "usage": usage}


@contextmanager
def _provider(scenario: Scenario) -> Iterator[str]:
    stage = Stage(scenario)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size_bytes = int(self.headers["content-length"])
            turn = stage.turn(json.loads(self.rfile.read(size_bytes)))
            if turn.status == 200:
                lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(turn)]
                body = "".join([*lines, "data: [DONE]\n\n"] if turn.finish else lines)
                kind = "text/event-stream"
            else:
                error = {"message": "this request is refused", "type": "invalid_request_error"}
                body, kind = json.dumps({"error": error}), "application/json"
            self.send_response(turn.status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _planned(scenario: Scenario, package: Path, base_url: str, root: Path) -> Plan:
    plan = OpenCode().plan(
        Settings(
            model=MODEL,
            base_url=base_url,
            dialect=Dialect.OPENAI_CHAT,
            output_limit=8000,
            context=scenario.context,
            effort="max",
            instruction="Do the task.",
            home=str(root / "home"),
            workdir=str(root / "work"),
            package_dir=str(package),
            env={"PATH": os.environ["PATH"]},
        )
    )
    if not scenario.ask:
        return plan
    asking = {**plan.env, "OPENCODE_PERMISSION": json.dumps({"bash": "ask"})}
    return replace(plan, argv=tuple(flag for flag in plan.argv if flag != "--auto"), env=asking)


def _terminate(work: Path) -> Callable[[Popen[bytes]], None]:
    def act(process: Popen[bytes]) -> None:
        until_there(work / STARTED, timeout_s=60)
        process.terminate()

    return act


def record(name: str, package: Path, target: Path) -> None:
    """Run one scenario and write its recording."""
    scenario = SCENARIOS[name]
    with TemporaryDirectory() as folder, _provider(scenario) as base_url:
        root = Path(folder)
        work = root / "work"
        work.mkdir()
        plan = _planned(scenario, package, base_url, root)
        meanwhile = _terminate(work) if scenario.terminate else None
        ran = native.run(plan, work, timeout_s=120, meanwhile=meanwhile)
        recording = {
            "provenance": {
                "harness": f"opencode {VERSION}, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": ["opencode", *plan.argv[1:]],
                "query": plan.store.query if plan.store else None,
                "scenario": scenario.meant,
            },
            "returncode": ran.returncode,
            "stderr": ran.stderr.decode(errors="replace"),
            "stdout": ran.stdout.decode().splitlines(),
            "rows": ran.rows,
        }
        text = json.dumps(recording, indent=1, ensure_ascii=False)
    for machine, said in (
        (folder, "/scratch"),
        (folder.removeprefix("/"), "scratch"),
        (str(package), "/package"),
        (base_url, "http://127.0.0.1:1"),
    ):
        text = text.replace(machine, said)
    (target / f"{name}.json").write_text(text + "\n")
    print(name, "exit", ran.returncode, "rows", len(ran.rows))  # noqa: T201


def main() -> None:
    package, *names = sys.argv[1:]
    target = Path(__file__).parent / f"opencode-{VERSION}"
    for name in names or SCENARIOS:
        record(name, Path(package).resolve(), target)


if __name__ == "__main__":
    main()
