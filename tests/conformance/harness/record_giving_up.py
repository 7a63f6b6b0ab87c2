"""Records how the real harnesses give up, or do not, one JSON file a case, for the replay tests.

Run by hand, as root, when a version is added, with it in the harness store:
    PYTHONPATH=tests python -m conformance.harness.record_giving_up HARNESS [CASE...]
Each case lasts as long as the harness keeps trying, which may be minutes, and is stopped when its
window is over. The rehearsal provider answers with a whole tool step first.
"""

import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from tempfile import TemporaryDirectory

from conformance.harness import native, rehearsed
from conformance.harness.record_codex import without_instructions
from conformance.harness.record_mini_swe_agent import shortened
from conformance.harness.rehearsed import Rehearsed
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import DocumentStore, Settings
from stanchion.images.harness_store import ensure_harness
from stanchion.images.host import default_cache_dir
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect

STARTED = "started"
GRACE_S = 20
"""After SIGTERM, before SIGKILL to its whole group."""


def work(command: str) -> str:
    """A turn that runs one command, by the name that every harness's shell answers to."""
    told = f'command = "{command}", description = "do it"MORE'
    return f'[[turn]]\nreasoning = "hm"\n[[turn.tool]]\nname = "bash"\narguments = {{{told}}}\n'


def failing(fault: str) -> str:
    """One whole step, then answers with this fault, however it asks for them again."""
    answer = '[[turn]]\nreasoning = "hm"\ntext = "All of it is done."\n'
    return work("echo one") + f"{answer}fault = {{{fault}}}\n" * 9


@dataclass(frozen=True, slots=True)
class Case:
    """What the provider does, and how long it is watched."""

    meant: str
    script: str
    window_s: int = 300
    sent: signal.Signals | None = None
    """Sent once the tool has created the file `started`."""
    reachable: bool = True


WITHHELD = '[[turn]]\nreasoning = "hm"\ntext = "I will"\nfinish = "WITHHELD"\n'
WORDS = {
    Dialect.OPENAI_CHAT: "content_filter",
    Dialect.OPENAI_RESPONSES: "content_filter",
    Dialect.ANTHROPIC_MESSAGES: "refusal",
    Dialect.GEMINI: "SAFETY",
}
"""What each API says of an answer that it withholds."""
SHELL_WANTS = {"qwen_code": ", is_background = false"}
"""What else a harness's shell must be told; others refuse to be."""
SLOW = work(f"touch {STARTED}; sleep 40")
CASES = {
    "error-401": Case("a step, then a wrong key", failing('kind = "status", status = 401')),
    "error-429": Case(
        "a step, then too many requests, for ever",
        failing('kind = "status", status = 429, retry_after = 5'),
    ),
    "error-500": Case("a step, then errors, for ever", failing('kind = "status", status = 500')),
    "cut": Case("a step, then streams that break off", failing('kind = "cut", after = 3')),
    "killed": Case("SIGTERM while a tool runs", SLOW, sent=signal.SIGTERM),
    "interrupted": Case("SIGINT while a tool runs", SLOW, sent=signal.SIGINT),
    "unreachable": Case("connections are refused", work("echo one"), reachable=False),
    "error-event": Case(
        "a step, then errors inside a 200", failing('kind = "error_event", after = 3')
    ),
    "no-finish": Case(
        "a step, then streams that end without a reason", failing('kind = "no_finish"')
    ),
    "filtered": Case("a step, then an answer that is withheld", work("echo one") + WITHHELD * 20),
    "stall": Case("a step, then silence in a stream", failing('kind = "stall", after = 3'), 330),
    "no-headers": Case(
        "a step, then no answer at all", failing('kind = "slow_headers", wait_s = 3600'), 150
    ),
}


@dataclass(slots=True)
class Watch:
    """Ends the run from outside: by the case's signal, or when its window is over."""

    case: Case
    work: Path
    stopped: bool = False

    def __call__(self, process: Popen[bytes]) -> None:
        """Act while it runs, beside whoever reads what it prints."""
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()

    def _watch(self, process: Popen[bytes]) -> None:
        deadline = time.monotonic() + self.case.window_s
        while self.case.sent and process.poll() is None and time.monotonic() < deadline:
            if (self.work / STARTED).exists():
                process.send_signal(self.case.sent)
                break
            time.sleep(0.05)  # by hand: nobody tells of the command's start
        with suppress(TimeoutExpired):
            process.wait(deadline - time.monotonic())
            return
        self.stopped = True
        process.terminate()
        with suppress(TimeoutExpired):
            process.wait(GRACE_S)
            return
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _nobody_listens() -> Iterator[str]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def record(name: str, case_name: str, target: Path) -> None:
    """Run one case and write its recording."""
    adapter, case = registry.adapter(name), CASES[case_name]
    version, dialect = adapter.versions[-1], adapter.dialects[0]
    package = ensure_harness(default_cache_dir(), name, version)
    settings = Settings(
        model="future-9", base_url="", dialect=dialect, output_limit=128_000,
        context=None, effort=EFFORT_WORDS[dialect][-1],
        instruction="Do the task.", home="", workdir="", package_dir="", env={},
    )  # fmt: skip
    with TemporaryDirectory(dir="/var/tmp") as folder, _nobody_listens() as nowhere:
        watch = Watch(case, Path(folder) / "work")
        began = time.monotonic()
        run = rehearsed.run(
            adapter, package, _script(case, name, dialect), settings, Path(folder),
            meanwhile=watch, elsewhere=None if case.reachable else nowhere,
            timeout_s=case.window_s + 3 * GRACE_S,
        )  # fmt: skip
        recording = {
            "provenance": {
                "harness": f"{name} {version}, linux x64, run natively",
                "recorded": datetime.now(UTC).date().isoformat(),
                "command": [name, *_told(run, (native.place(package), str(package.path)))],
                "scenario": case.meant,
            },
            "returncode": run.ran.returncode,
            "took_s": round(time.monotonic() - began),
            "stopped": watch.stopped,
            "requests": _requests(run),
            **_session(run),
        }
        text = json.dumps(recording, indent=1, ensure_ascii=False)
        if name == "codex":
            text = without_instructions(text, package.path)
        text = text.replace(folder, "/scratch").replace(str(package.path), "/package")
        text = text.replace(run.base_url.removeprefix("http://"), "127.0.0.1:1")
    (target / f"{case_name}.json").write_text(_without_places(text, folder) + "\n")
    took, asked = recording["took_s"], len(run.seen)
    print(name, case_name, "exit", run.ran.returncode, "after", took, "s, requests", asked)  # noqa: T201


def _script(case: Case, harness: str, dialect: Dialect) -> str:
    told = case.script.replace("MORE", SHELL_WANTS.get(harness, ""))
    return told.replace("WITHHELD", WORDS[dialect])


def _told(run: Rehearsed, places: tuple[str, ...]) -> list[str]:
    """Its arguments, without what it is started by."""
    return [word for word in run.plan.argv if not word.startswith(places)]


def _requests(run: Rehearsed) -> list[list[object]]:
    """Seconds since the first one, limit, effort, stream, status."""
    return [
        [
            round((int(str(seen["at_ms"])) - int(str(run.seen[0]["at_ms"]))) / 1000),
            seen["max_tokens"] or seen["max_output_tokens"],
            seen["reasoning_effort"], seen["stream"], seen["status"],
        ]
        for seen in run.seen
    ]  # fmt: skip


def _session(run: Rehearsed) -> dict[str, object]:
    """What its adapter reads; a document without the harness's own long prompts."""
    if not isinstance(run.plan.store, DocumentStore):
        return {"rows": run.ran.rows, "stdout": run.ran.stdout.decode().splitlines()}
    documents = [json.loads(text) for (text,) in run.ran.rows]  # type: ignore[arg-type]  # bytes
    kept = [{"messages": [shortened(one) for one in doc["messages"]]} for doc in documents]
    return {"rows": [[json.dumps(document)] for document in kept], "stdout": []}


def _without_places(text: str, folder: str) -> str:
    """No place of this machine, however the harness writes it."""
    text = re.sub(re.escape(folder.replace("/", "-").replace("_", "-")), "-scratch", text)
    text = re.sub(r"/tmp/(?:claude-|cc-)[^\"\\ ]*", "/scratch/tmp", text)
    return re.sub(r"codex-arg0\w+", "codex-arg0", text)


def main() -> None:
    # Not ignored, as it is in the background of a shell: a harness would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, *names = sys.argv[1:]
    version = registry.adapter(name).versions[-1]
    target = Path(__file__).parent / "giving_up" / f"{name.replace('_', '-')}-{version}"
    target.mkdir(exist_ok=True, parents=True)
    for case in names or CASES:
        record(name, case, target)


if __name__ == "__main__":
    main()
