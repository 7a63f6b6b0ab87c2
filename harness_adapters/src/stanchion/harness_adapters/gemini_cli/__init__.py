"""Gemini CLI 0.61.0 over the Gemini API: start, configuration, session.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters import node_program
from stanchion.harness_adapters.base import (
    LinesStore,
    Plan,
    Refuses,
    SessionReader,
    Settings,
    Written,
)
from stanchion.harness_adapters.gemini_cli import check, config
from stanchion.harness_adapters.gemini_cli.session import GeminiCliSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

SCRIPT = "node_modules/@google/gemini-cli/bundle/gemini.js"


class GeminiCli:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = check.NAME
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = (Dialect.GEMINI,)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 1536
    """It peaks at 0.4 GB of its own on a trivial turn."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - the same for each
        """None: limit and effort stand in every request, of sub-agents and compactions too."""
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: loop detection, next speaker, corrections of edits and searches are off."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what Gemini CLI would misread or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        flags = ("--model", settings.model, "--output-format", "stream-json")
        return Plan(
            argv=node_program.command(settings, SCRIPT, *flags),
            env=config.environment(settings),
            files=config.files(settings),
            stdin=settings.instruction.encode(),
            store=LinesStore(folder=config.sessions(settings.home)),
            removed=config.FOREIGN,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as Gemini CLI will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its session files and of what it prints."""
        return GeminiCliSession()
