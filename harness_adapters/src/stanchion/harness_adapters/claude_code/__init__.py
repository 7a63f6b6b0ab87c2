"""Claude Code 2.1.332 over Anthropic's messages: start, configuration, session.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters.base import Plan, Refuses, SessionReader, Settings, Written
from stanchion.harness_adapters.claude_code import check, config
from stanchion.harness_adapters.claude_code.session import ClaudeCodeSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, SideRequest

BINARY = "claude"
"""Below the package's folder: the native program, not npm's wrapper."""
FLAGS = (
    "--print",
    *("--output-format", "stream-json", "--verbose"),
    "--dangerously-skip-permissions",
    # Settings, instructions and servers of the workspace are not read: one of them could name
    # another address, limit or effort, and beats environment and flags.
    *("--setting-sources", "user", "--strict-mcp-config"),
    # Both ask in requests of their own, one of them for a tool that runs at the provider.
    *("--disallowedTools", "WebFetch,WebSearch"),
)
FALLBACK_CAP = 64_000
"""A request without a stream, which follows a stalled stream or a 404, asks for no more."""


class ClaudeCode:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = "claude_code"
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = (Dialect.ANTHROPIC_MESSAGES,)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 1536
    """The program maps 0.4 GB and peaks at 0.3 GB of its own on a trivial turn."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:
        """The limit, above what a request without a stream is silently lowered to."""
        if dialect not in self.dialects or output_limit <= FALLBACK_CAP:
            return ()
        why = f"claude_code asks for at most {FALLBACK_CAP} where it falls back to no stream"
        return (Correction(field="max_tokens", value=output_limit, why=why),)

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: titles, probes and telemetry are off; summaries carry limit and effort."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what Claude Code would misread, clamp or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        return Plan(
            argv=(f"{settings.package_dir}/{BINARY}", *FLAGS),
            env=config.environment(settings),
            files=config.files(settings.home),
            stdin=settings.instruction.encode(),
            store=None,
            removed=config.FOREIGN,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as Claude Code will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its event stream."""
        return ClaudeCodeSession()
