"""mini-swe-agent 2.4.6 over OpenAI's chat API and Anthropic's messages: start, configuration, end.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out. Commands
of the agent end after 30 s, as is its own default.
"""

from collections.abc import Mapping

from stanchion.harness_adapters.base import (
    DocumentStore,
    Plan,
    Refuses,
    SessionReader,
    Settings,
    Written,
)
from stanchion.harness_adapters.mini_swe_agent import check, config
from stanchion.harness_adapters.mini_swe_agent.session import MiniSweAgentSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

PYTHON = "runtime/bin/python3.11"
PACKAGES = "runtime/lib/python3/dist-packages"
"""Below the package's folder."""
PROMPTS = f"{PACKAGES}/minisweagent/config/mini.yaml"
"""Its own prompts, by their whole path: a file of this name in the workspace would come first."""


class MiniSweAgent:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = "mini_swe_agent"
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = tuple(config.PROVIDERS)
    asks_model = True
    header_wait_s = config.WAIT_S
    min_memory_mb = 1024
    """The program peaks at 0.4 GB."""
    refuses: tuple[Refuses, ...] = ()

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - the same for each
        """None: it can be told everything itself."""
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: it asks for nothing but the next command."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what mini-swe-agent would misread, clamp or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        own, package = config.folder(settings.home), settings.package_dir
        return Plan(
            # Isolated: no folder of the workspace is one of its modules.
            argv=(
                *(f"{package}/{PYTHON}", "-I", "-m", "minisweagent"),
                *("-c", f"{package}/{PROMPTS}", "-c", f"{own}/{config.SETTINGS}"),
                *("-o", f"{own}/{config.TRAJECTORY}"),
            ),
            env=config.environment(settings),
            files=config.files(settings),
            stdin=b"",
            store=DocumentStore(path=f"{own}/{config.TRAJECTORY}"),
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as mini-swe-agent and litellm will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its trajectory."""
        return MiniSweAgentSession()
