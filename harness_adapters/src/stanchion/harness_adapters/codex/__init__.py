"""Codex 0.171.0 over OpenAI's responses: start, configuration, session.

Decides how this harness is started so that it does exactly what was declared, and refuses what it
would misread. It must never start anything and never read a file of a run: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters.base import (
    LinesStore,
    Plan,
    Refuses,
    SessionReader,
    Settings,
    Written,
)
from stanchion.harness_adapters.codex import check, config
from stanchion.harness_adapters.codex.session import CodexSession
from stanchion.protocol.dialects import VOCABULARIES, Dialect
from stanchion.protocol.launch import Correction, SideRequest

BINARY = "vendor/x86_64-unknown-linux-musl/bin/codex"
"""Below the package's folder: the native program, not npm's wrapper."""
FLAGS = (
    "exec",
    "--json",
    # A field that it does not know is otherwise an `error` item in a run that goes on without it.
    "--strict-config",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    # Rules of the workspace for what may be run.
    "--ignore-rules",
)


class Codex:
    """The adapter. It holds no state: one instance serves any number of launches."""

    name = "codex"
    versions: tuple[str, ...] = (config.VERSION,)
    dialects: tuple[Dialect, ...] = (Dialect.OPENAI_RESPONSES,)
    asks_model = True
    refuses: tuple[Refuses, ...] = ()
    header_wait_s = config.HEADER_WAIT_S
    min_memory_mb = 768
    """The program maps 0.3 GB and peaks at 0.2 GB of its own on a trivial turn."""

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:
        """The limit: no setting of Codex reaches the wire (its issue #36180)."""
        if dialect not in self.dialects:
            return ()
        why = "codex cannot be told an output limit and sends none"
        return (Correction(field="max_output_tokens", value=output_limit, why=why),)

    def effort_corrections(self, dialect: Dialect, effort: str | None) -> tuple[Correction, ...]:
        """The one word that it would send as another one."""
        if dialect not in self.dialects or effort is None or effort != config.REPLACED_EFFORT:
            return ()
        why = f"codex sends another word where {effort} is asked for"
        field = VOCABULARIES[dialect].field
        return (Correction(field=field, value=effort, why=why),)

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """None: reviews, titles and memories are off; summaries carry effort and limit too."""
        return ()

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what Codex would misread, change or drop silently."""
        check.check(settings, self.dialects)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it does exactly this. Refuses what `check` refuses."""
        self.check(settings)
        return Plan(
            argv=(f"{settings.package_dir}/{BINARY}", *FLAGS),
            env=config.environment(settings),
            files=config.files(settings),
            stdin=settings.instruction.encode(),
            store=LinesStore(folder=config.sessions(settings.home)),
            removed=config.FOREIGN,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """Limits and effort as Codex will understand them."""
        return config.understood(env, files)

    def session(self) -> SessionReader:
        """A fresh reader of its rollout file."""
        return CodexSession()
