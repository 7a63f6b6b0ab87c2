"""Writes the reference pages that follow from code; with `--check` says which ones have drifted.

Endings, errors of the gate, the watchdog's table, protocol schemas and the commands' help are never
written by hand.
"""

import json
import sys
from collections.abc import Callable
from importlib import metadata, resources
from pathlib import Path

import click
import msgspec
import performance
from harnesses_page import harnesses

from stanchion.protocol import admin, control, credentials, events, job, overview, receipt, result
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.launch import FrozenLaunch, WatchdogLimits
from stanchion.protocol.outcome import MEANING, TABLE, Blame, Flag, Grade, ScoreRule
from stanchion.runner.cli.root import root
from stanchion.runner.errors import table as errors_table
from stanchion.runner.tasks.task_fields import FIELDS, TABLES
from stanchion.supervisor.process_tree import IDLE_FLOOR
from stanchion.supervisor.watchdog import MOST_CREDIT_MS, RULES
from stanchion.supervisor.watchdog_states import MEANING as WATCHDOG_MEANING
from stanchion.supervisor.watchdog_states import TRANSITIONS, Observed, State

HEAD_LINES = 4
"""Of the errors table: what it says about itself."""
REFERENCE = Path(__file__).parent / "reference"
PARTS = Path(__file__).parent / "parts"
"""Text that a generated page goes on with."""

SCORES = {
    ScoreRule.WITHHELD: "null",
    ScoreRule.CREDIT_ONLY: "null unless credit",
    ScoreRule.VERIFIER: "the verifier's",
}


def endings() -> str:
    """The closed list of endings, in the order of decision."""
    lines = [
        "# Endings",
        "",
        "How an attempt can end. The first reason that its evidence supports wins, in this order.",
        "*Null unless credit*: the score is withheld, unless the reward is above what an untouched",
        "workspace gets.",
        "",
        "| reason | score | blame | retry |",
        "|---|---|---|---|",
    ]
    for reason, _ in TABLE:
        meaning = MEANING[reason]
        blame = meaning.blame or "none"
        lines.append(f"| `{reason}` | {SCORES[meaning.score]} | {blame} | {meaning.retry} |")
    for title, words in (("Flags", Flag), ("Grades", Grade), ("Blame", Blame)):
        lines += ["", f"## {title}", "", ", ".join(f"`{word}`" for word in words)]
    lines += ["", "## Exit codes of the command", "", "| code | name |", "|---|---|"]
    lines += [f"| {code.value} | {code.name.lower()} |" for code in ExitCode]
    return "\n".join(lines) + "\n"


def schemas() -> str:
    """JSON Schema of everything that crosses a process border."""
    messages = [
        FrozenLaunch,
        events.Event,
        events.Envelope,
        events.StreamEntry,
        control.FromSupervisor,
        control.FromBroker,
        receipt.Header,
        receipt.Record,
        job.OpenJob,
        job.CloseJob,
        job.JobHeader,
        job.JobRecord,
        admin.OpenRun,
        admin.RunOpenedReply,
        admin.EnrolTicket,
        admin.HostReport,
        admin.RunView,
        admin.EventsPage,
        admin.ProfileView,
        admin.Health,
        admin.ErrorReply,
        credentials.CompareEnv,
        credentials.ComparedEnv,
        result.AttemptResult,
        result.OpenAttempt,
        overview.VitalsPage,
        overview.Checkpoint,
    ]
    _, components = msgspec.json.schema_components(messages, ref_template="#/$defs/{name}")
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": components}
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def commands() -> str:
    """The help of every command."""
    lines = ["# Commands", "", "Generated from the commands' own help."]

    def describe(command: click.Command, path: tuple[str, ...]) -> None:
        context = click.Context(command, info_name=" ".join(path), terminal_width=96)
        lines.extend(["", f"## {' '.join(path)}", "", "```", command.get_help(context), "```"])
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None and not child.hidden:
                    describe(child, (*path, name))

    describe(root, ("stanchion",))
    return "\n".join(lines) + "\n"


def task_format() -> str:
    """Every field of a task, and what becomes of it."""
    lines = [
        "# The task format",
        "",
        "A task is a folder in Harbor's format, schema 1.4. Every field of its `task.toml` is",
        "obeyed, or has no effect that could be missed here, or is refused with file, line and",
        "reason; a field that is not on this page is refused too. Refused fields may stand there",
        "if they ask for nothing: `false`, `0`, an empty text, list or table.",
    ]
    for table in ("", *TABLES):
        title = f"`[{table}]`" if table else "At the top"
        lines += ["", f"## {title}", "", "| field | fate | meaning |", "|---|---|---|"]
        for field in FIELDS:
            inside, _, key = field.name.rpartition(".")
            if inside == table:
                remedy = f"; {field.remedy}" if field.remedy else ""
                lines.append(f"| `{key}` | {field.fate} | {field.what}{remedy} |")
    lines += ["", (PARTS / "task-format.md").read_text().rstrip()]
    return "\n".join(lines) + "\n"


def errors() -> str:
    """The errors table, in the sections of its file."""
    lines = [
        "# Errors",
        "",
        "What a command says when it does not do what was asked: one sentence and the next command",
        "on standard error, one exit code. With `--json` standard output holds one document, and",
        'nothing else: `{"error": {"id", "field", "value", "rule", "remedy", "next"}}`. The admin',
        "API answers with the same document. Capitals stand for what differs from case to case.",
        "A program tells errors apart by `id`; ids are never renamed.",
    ]
    rows = errors_table.table()
    data = resources.files("stanchion.runner.errors").joinpath(errors_table.DATA_NAME)
    for line in data.read_text("utf-8").splitlines()[HEAD_LINES:]:
        if line.startswith("# "):
            lines += [
                "",
                f"## {line[2:]}",
                "",
                *_header("id", "what it says", "why", "next", "exit"),
            ]
        elif line.startswith("["):
            row = rows[line.strip("[]")]
            command = f"`{row.next}`" if row.next else ""
            name, code = f"`{line.strip('[]')}`", str(row.exit.value)
            cells = (name, row.sentence, row.cause, command, code)
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def watchdog() -> str:
    """The watchdog's states, where each leads, and the limits that stop an agent."""
    defaults = WatchdogLimits()
    lines = [
        "# The watchdog",
        "",
        "It decides, inside the sandbox, whether an agent goes on or is stopped. One step of its",
        f"clock counts for {MOST_CREDIT_MS // 1000} seconds at most: a pause or a jump of the",
        "machine's clock stops nothing.",
        "",
        "A sign of life keeps an agent running, and progress alone clears its failures. Signs of",
        f"life: a stream with an event in the last {defaults.stream_live_s} s (`stream_live_s`),",
        "not counting comments and pings; a process below the harness that is new, used the",
        f"processor, read or wrote; a harness that used more than {IDLE_FLOOR:.0%} of a processor.",
        "What the harness prints is none.",
        "",
        "```mermaid",
        "stateDiagram-v2",
        f"    [*] --> {State.RUNNING}",
        *_moves(),
        "```",
        "",
        *_header("state", "meaning"),
        *(f"| `{state}` | {WATCHDOG_MEANING[state]} |" for state in State),
        "",
        *_header("observed", "meaning"),
        *(f"| `{observed}` | {WATCHDOG_MEANING[observed]} |" for observed in Observed),
        "",
        "## Where each state leads",
        "",
        *_header("state", *(f"`{observed}`" for observed in Observed)),
    ]
    for state, row in TRANSITIONS.items():
        cells = ("" if row[observed] is state else f"`{row[observed]}`" for observed in Observed)
        lines.append(f"| `{state}` | {' | '.join(cells)} |")
    lines += [
        "",
        "An empty cell leaves the state as it is.",
        "",
        "## Limits",
        "",
        "Looked at after every observation, in this order; the first that is reached stops the",
        "agent. They come with the launch; the deadline is the task's.",
        "",
        *_header("stops as", "when", "limit", "default", "unless"),
        *_limits(defaults),
    ]
    return "\n".join(lines) + "\n"


def _moves() -> list[str]:
    """The arrows of the diagram; what leaves a state as it is has none."""
    return [
        f"    {state} --> {after}: {observed}"
        for state, row in TRANSITIONS.items()
        for observed, after in row.items()
        if after is not state
    ]


def _limits(defaults: WatchdogLimits) -> list[str]:
    lines = []
    for rule in RULES:
        default = getattr(defaults, rule.limit, None)
        says = rule.says.format(n="N", most="N")
        shown = "the task's" if default is None else str(default)
        lines.append(
            f"| `{rule.reason}` | {says} | `{rule.limit}` | {shown} | {rule.unless_says} |"
        )
    return lines


def _header(*names: str) -> list[str]:
    return [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]


PAGES: dict[str, Callable[[], str]] = {
    "endings.md": endings,
    "errors.md": errors,
    "protocol.schema.json": schemas,
    "commands.md": commands,
    "task-format.md": task_format,
    "watchdog.md": watchdog,
    "harnesses.md": harnesses,
}
if performance.RESULT.is_file():  # make bench-broker writes it
    PAGES["../explanation/performance.md"] = performance.page
    PAGES["../explanation/performance.svg"] = performance.picture


def main() -> int:
    """Write or check every page."""
    check = sys.argv[1:] == ["--check"]
    drifted = []
    for name, make in PAGES.items():
        page = REFERENCE / name
        text = make()
        if page.is_file() and page.read_text() == text:
            continue
        drifted.append(name)
        if not check:
            page.write_text(text)
    verb = "differ from the code (run make docs)" if check else "written"
    version = metadata.version("stanchion")
    sys.stdout.write(f"docs of {version}: {len(PAGES)} generated pages, {len(drifted)} {verb}\n")
    for name in drifted:
        sys.stdout.write(f"  docs/reference/{name}\n")
    return 1 if check and drifted else 0


if __name__ == "__main__":
    sys.exit(main())
