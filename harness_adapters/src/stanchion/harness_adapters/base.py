"""What an adapter answers about its harness, and nothing else.

How it is told limit, effort and address; how it is started; where it saves steps; how it shows its
end. Pure: an adapter reads and writes values; the supervisor does the files and processes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd
from stanchion.protocol.launch import Correction, SideRequest
from stanchion.protocol.transcript import TaskListItem, TranscriptItem

ARGUMENTS = "/proc/self/cmdline"
INPUT = "/dev/stdin"
"""Where a program finds its arguments and its input; `read_back` finds them there too."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What one launch tells the harness."""

    model: str
    base_url: str
    """`http://127.0.0.1:PORT`, without a path."""
    dialect: Dialect
    output_limit: int
    context: int | None
    effort: str | None
    instruction: str
    home: str
    workdir: str
    package_dir: str
    """Where the harness's package is mounted."""
    env: Mapping[str, str]
    """The task's own environment."""
    thinking_budget: int | None = None
    """Part of the output limit; None = nothing is said."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file to write before the start; text None = a directory."""

    path: str
    text: str | None
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class SqliteStore:
    """A SQLite log that the harness appends to, tailed read-only.

    `query` takes one parameter, the last cursor, and its first column is the next cursor.
    """

    path: str
    query: str
    first_cursor: int = 0


@dataclass(frozen=True, slots=True)
class LinesStore:
    """Text files that the harness appends lines to, tailed read-only.

    All files below `folder` whose names end in `suffix`, at most `depth` folders down; a row is the
    file's path below the folder and one whole line.
    """

    folder: str
    suffix: str = ".jsonl"
    depth: int = 4


@dataclass(frozen=True, slots=True)
class DocumentStore:
    """One JSON file that the harness writes anew with every step; a row is its whole text."""

    path: str


Store = SqliteStore | LinesStore | DocumentStore


@dataclass(frozen=True, slots=True)
class Plan:
    """How the harness is started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: tuple[PlannedFile, ...]
    stdin: bytes
    store: Store | None
    solution: bool = False
    """True = the task's solution belongs to the files it is started with."""
    removed: tuple[str, ...] = ()
    """Files and folders that an image may bring and that would outrank what is written here."""


@dataclass(frozen=True, slots=True)
class Written:
    """Limits and effort as read back from a written configuration."""

    model: str | None
    base_url: str | None
    output_limit: int | None
    context: int | None
    effort: str | None
    thinking_budget: int | None = None
    unsaid: frozenset[str] = frozenset()
    """Fields that the harness has no way to be told, and does not need or cannot keep to."""


@dataclass(frozen=True, slots=True)
class TaskListSaved:
    """The agent's own list, whole."""

    session: str
    items: tuple[TaskListItem, ...]


Saved = StepSaved | TranscriptItem | TaskListSaved


class SessionReader(Protocol):
    """Folds what the harness saves, in order, and says at the end what it adds up to.

    Garbage is unknown: a reader never raises on what a harness (or its agent) wrote.
    """

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        """New rows of the store."""
        ...

    def output(self, line: bytes) -> list[Saved]:
        """One line of the harness's standard output."""
        ...

    def end(self) -> SessionEnd:
        """How the session stands now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuses:
    """Launches that `check` refuses since the harness cannot say them; `make conformance` reads it.

    Only what follows from dialect, effort and limit, for a model of any name.
    """

    dialect: Dialect
    id: str
    """Of the refusal."""
    efforts: tuple[str, ...] = ()
    """These words; () = with any."""
    above: int = 0
    """Output limits above this."""
    why: str

    def covers(self, dialect: Dialect, effort: str, output_limit: int) -> bool:
        """Whether this launch is one of them."""
        return (
            dialect is self.dialect
            and (not self.efforts or effort in self.efforts)
            and output_limit > self.above
        )


class Adapter(Protocol):
    """One harness."""

    name: str
    versions: tuple[str, ...]
    """Versions whose behaviour was measured; others are refused."""
    dialects: tuple[Dialect, ...]
    """The first is the native one."""
    header_wait_s: int
    """How long the harness waits for response headers before it tries again."""
    min_memory_mb: int
    asks_model: bool
    """False = it makes no request, so nothing about a model is written or read back."""
    refuses: tuple[Refuses, ...]
    """Declared, so that a refusal in the conformance table is expected or wrong; mostly none."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:
        """Changes to requests that the harness cannot make itself."""
        ...

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:
        """Requests beside the main ones that could not be switched off."""
        ...

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what this harness would misread, clamp or drop silently."""
        ...

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this."""
        ...

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as the harness will understand them.

        `files` holds what was planned, and what stands in ARGUMENTS (NUL between two) and INPUT.
        """
        ...

    def session(self) -> SessionReader:
        """A fresh reader of what it saves."""
        ...


@runtime_checkable
class CorrectsEffort(Protocol):
    """An adapter whose harness cannot say every effort word: the broker writes those."""

    def effort_corrections(self, dialect: Dialect, effort: str | None) -> tuple[Correction, ...]:
        """The change that brings this word to the wire; none where the harness says it itself."""
        ...


def all_corrections(
    adapter: Adapter, dialect: Dialect, output_limit: int, effort: str | None
) -> tuple[Correction, ...]:
    """Everything that the broker writes for this harness under these terms."""
    found = adapter.corrections(dialect, output_limit)
    if isinstance(adapter, CorrectsEffort):
        found += adapter.effort_corrections(dialect, effort)
    return found
