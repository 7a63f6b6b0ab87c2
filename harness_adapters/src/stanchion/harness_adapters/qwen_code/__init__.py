"""Qwen Code 0.15.10 over OpenAI's chat completions: start, configuration, session.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters import node_program
from stanchion.harness_adapters.base import Plan, Refuses, SessionReader, Settings, Written
from stanchion.harness_adapters.qwen_code import check, config
from stanchion.harness_adapters.qwen_code.session import QwenCodeSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

SCRIPT = "node_modules/@qwen-code/qwen-code/cli.js"
FLAGS = ("--auth-type", "openai", "--output-format", "stream-json")


class QwenCode:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = check.NAME
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = (Dialect.OPENAI_CHAT,)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 1536
    """It peaks at 0.5 GB of its own on a trivial turn."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - the same for each
        """None: limit and effort stand in every request, of sub-agents and compactions too."""
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: memory writer, titles and summaries of tool use are off."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what Qwen Code would misread or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        return Plan(
            argv=node_program.command(settings, SCRIPT, "--model", settings.model, *FLAGS),
            env=config.environment(settings),
            files=config.files(settings),
            stdin=settings.instruction.encode(),
            store=None,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as Qwen Code will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its event stream."""
        return QwenCodeSession()
