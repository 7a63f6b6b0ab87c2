"""The fault matrix as data: one TOML file a fault, read strictly.

A row says what goes wrong, under which harness, and the one right ending: its reason, flags, blame,
retry advice, grade and whether the verifier's word counts. Times in it are those of a real run; one
number, SCALE, makes minutes of it seconds.
"""

import os
import tomllib
from enum import StrEnum
from pathlib import Path

import msgspec

from stanchion.protocol.outcome import Blame, EndReason, Flag, Grade, Retry

ROWS = Path(__file__).parent / "rows"
SCALE = float(os.environ.get("STANCHION_FAULT_SCALE", "180"))
"""So many seconds of a script or a threshold pass in one."""


class Family(StrEnum):
    """Where the trouble begins."""

    PROVIDER = "provider"
    HARNESS = "harness"
    SANDBOX = "sandbox"
    AGENT = "agent"
    HOST = "host"


class Kind(StrEnum):
    """What a row is there to show."""

    FAULT = "fault"
    ODD = "odd"
    """Looks wrong and is well: what it earned must count."""
    LONG = "long"
    """Healthy for long in odd ways: it must never be stopped."""


class Harness(StrEnum):
    """Who plays the agent."""

    OPENCODE = "opencode"
    CLAUDE_CODE = "claude_code"
    SCRIPTED = "scripted"


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Act(_Part, frozen=True, kw_only=True):
    """What is done to the attempt from outside."""

    do: str
    """A name of `acts`."""
    after: str = "step"
    """The event that it waits for: `start`, `request`, `step`, `answer`."""


class Play(_Part, frozen=True, kw_only=True):
    """What happens."""

    script: str | None = None
    """The provider's part, a rehearsal script; None = a provider that always says `done`."""
    turns: int = 1
    """The script's last turn, so many times."""
    agent: str | None = None
    """The scripted harness's part, in Python: see `scripted_agent`."""
    lies: dict[str, object] = {}
    """What the scripted harness's configuration says on disk instead of what it was told."""
    tests: str | None = None
    """None: 1 if the answer file holds `right`, else 0."""
    agent_s: int = 3600
    """The agent's time limit, in seconds of a real run."""
    slower: int = 1
    """So many times as slow as other rows, where a busy machine would blur what is near a limit."""
    verifier_s: int = 20
    """That of the tests, in seconds as they are."""
    max_wait_s: int = 1200
    profile: str = "evals"
    """Of the real harness: `evals`, `impatient` (max_wait_s 3) or `poor` (2 requests)."""
    memory_mb: int = 2048
    context: int | None = None
    """Tokens; None: the real harness never compacts by itself."""
    declares_answer: bool = False
    act: Act | None = None


class Expected(_Part, frozen=True, kw_only=True):
    """The one right ending."""

    reason: EndReason
    grade: Grade
    score: float | None = None
    """None in the file = withheld."""
    flags: tuple[Flag, ...] = ()
    """Must all be there; `effort_undeclared` and others may be beside them."""
    blame: Blame | None = None
    retry: Retry = Retry.NEVER
    says: str | None = None
    """Words of the detail."""


class Row(_Part, frozen=True, kw_only=True):
    """One fault."""

    name: str = ""
    title: str
    family: Family
    kind: Kind = Kind.FAULT
    harness: Harness
    source: tuple[str, ...]
    """Public reports, or `measured`."""
    short: bool = False
    """Part of the short form that runs with every change."""
    play: Play
    expected: Expected
    plain: float | None
    """What a plain runner would have scored: the reward, or 0 where there is none."""


class RowError(ValueError):
    """A file that is no row; the message names it."""


def read_row(path: Path) -> Row:
    """One file."""
    try:
        raw = tomllib.loads(path.read_text())
        row = msgspec.convert({"plain": None, **raw, "name": path.stem}, Row)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise RowError(f"{path.name}: {error}") from error
    if (row.play.agent is not None) is not (row.harness is Harness.SCRIPTED):
        raise RowError(f"{path.name}: play.agent stands for the scripted harness, and only there")
    return row


def read_rows(folder: Path = ROWS) -> list[Row]:
    """All of them, by name."""
    return [read_row(path) for path in sorted(folder.glob("*.toml"))]


def script_of(play: Play) -> str:
    """The whole script of the provider."""
    script = play.script or 'version = 1\n[[turn]]\ntext = "All is done."\n'
    _, mark, last = script.rpartition("[[turn]]")
    return script + (mark + last) * (play.turns - 1)


def scale_of(play: Play) -> float:
    """Of this row."""
    return SCALE / play.slower


def scaled(seconds: float, *, scale: float = SCALE) -> int:
    """Whole seconds that pass for these; at least one."""
    return max(1, round(seconds / scale))
