"""OpenCode 1.18.33 over OpenAI's two APIs and Anthropic's: start, configuration, sessions.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters.base import (
    Plan,
    Refuses,
    SessionReader,
    Settings,
    SqliteStore,
    Written,
)
from stanchion.harness_adapters.opencode import check, config
from stanchion.harness_adapters.opencode.packages import PACKAGES, unsaid_effort
from stanchion.harness_adapters.opencode.session import OpenCodeSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

BINARY = "bin/opencode"
"""Below the package's folder: the program itself, not npm's wrapper, which loses signals."""
EVENTS = "select rowid, aggregate_id, seq, type, data from event where rowid > ? order by rowid"
"""The append-only log of all sessions. Rows are only ever added while a run lasts."""


class OpenCode:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = "opencode"
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = tuple(PACKAGES)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 1536
    """The program alone peaks at 0.8 GB; under 0.7 GB it is killed before its first request."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - the same for each
        """None: it can be told every limit itself."""
        return ()

    def effort_corrections(self, dialect: Dialect, effort: str | None) -> tuple[Correction, ...]:
        """A word that the dialect's package would end the harness for."""
        field = unsaid_effort(dialect, effort)
        if field is None or effort is None:
            return ()
        npm = PACKAGES[dialect].npm
        why = f"opencode's package {npm} takes no such word and ends before it asks"
        return (Correction(field=field, value=effort, why=why),)

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: titles are off, and nothing else was seen on the wire."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what OpenCode would misread, clamp or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        flags = ("--format", "json", "--thinking", "--title", "stanchion", "--auto")
        return Plan(
            argv=(f"{settings.package_dir}/{BINARY}", "run", *flags),
            env=config.environment(settings),
            files=config.files(settings.home),
            # On the command line the instruction would reach the model in quotation marks.
            stdin=settings.instruction.encode(),
            store=SqliteStore(path=config.database(settings.home), query=EVENTS),
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as OpenCode will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its event log."""
        return OpenCodeSession()
