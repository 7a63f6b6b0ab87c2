"""pi 1.6.0 over OpenAI's chat completions and responses and Anthropic's messages.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters import node_program
from stanchion.harness_adapters.base import Plan, Refuses, SessionReader, Settings, Written
from stanchion.harness_adapters.pi import check, config
from stanchion.harness_adapters.pi.session import PiSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

SCRIPT = "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
FLAGS = (
    *("--print", "--mode", "json"),
    "--offline",
    # Settings, servers, skills and programs of the workspace are not loaded.
    *("--no-approve", "--no-context-files", "--no-extensions", "--no-skills"),
    *("--no-prompt-templates", "--no-themes", "--no-mcp"),
)


class Pi:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = check.NAME
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = tuple(config.APIS)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 768
    """It peaks below 0.2 GB of its own on a trivial turn."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - the same for each
        """None: limit and effort stand in every request, compactions too."""
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: it asks for steps and for compactions, which carry limit and effort."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what pi would misread, lower or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        level = config.OFF if settings.effort is None else config.LEVEL
        told = ("--provider", config.PROVIDER, "--model", settings.model, "--thinking", level)
        sessions = ("--session-dir", f"{config.folder(settings.home)}/sessions")
        return Plan(
            argv=node_program.command(settings, SCRIPT, *told, *sessions, *FLAGS),
            env=config.environment(settings),
            files=config.files(settings),
            stdin=settings.instruction.encode(),
            store=None,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as pi will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its event stream."""
        return PiSession()
