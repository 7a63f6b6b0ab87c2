"""Two harnesses that ask no model: `oracle` runs the task's own solution, `noop` does nothing.

They show what a task is worth: the solution must earn its reward, and nothing must not. They are
started, watched and graded like any other. Neither is ever told a limit or an effort, since there
is nobody to pass it to.
"""

from collections.abc import Mapping, Sequence

from stanchion.harness_adapters.base import Plan, Refuses, Saved, SessionReader, Settings, Written
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.launch import Correction, SideRequest

SHELL = "/bin/sh"
SOLVE = "/solution/solve.sh"
"""Where Harbor's oracle has it. The supervisor puts the folder there for this harness alone."""


class NoSession:
    """A reader for a harness that saves nothing."""

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:  # noqa: ARG002 - none come
        """Nothing."""
        return []

    def output(self, line: bytes) -> list[Saved]:  # noqa: ARG002 - free text
        """Nothing."""
        return []

    def end(self) -> SessionEnd:
        """Unknown, and nothing depends on it: the wait status says how it ended."""
        return SessionEnd(state=SessionState.UNKNOWN, detail="this harness keeps no session")


class _WithoutModel:
    """What both have in common."""

    versions: tuple[str, ...] = ("1",)
    dialects: tuple[Dialect, ...] = tuple(Dialect)
    """Any: it speaks none."""
    header_wait_s = 300
    min_memory_mb = 64
    asks_model = False
    refuses: tuple[Refuses, ...] = ()

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:  # noqa: ARG002 - no requests
        """None."""
        return ()

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - no requests
        """None."""
        return ()

    def check(self, settings: Settings) -> None:
        """Nothing can be misread."""

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:  # noqa: ARG002 - nothing is written
        """Nothing was written."""
        return Written(model=None, base_url=None, output_limit=None, context=None, effort=None)

    def session(self) -> SessionReader:
        """One that reads nothing."""
        return NoSession()


class Oracle(_WithoutModel):
    """Runs `solution/solve.sh` as a shell would, whatever its first line says."""

    name = "oracle"

    def plan(self, settings: Settings) -> Plan:
        """The solution, in the task's environment."""
        return Plan(
            argv=(SHELL, "-c", f"exec {SOLVE}"),
            env={**settings.env, "DEBIAN_FRONTEND": "noninteractive", "HOME": settings.home},
            files=(),
            stdin=b"",
            store=None,
            solution=True,
        )


class Noop(_WithoutModel):
    """Ends at once."""

    name = "noop"

    def plan(self, settings: Settings) -> Plan:
        """A shell that does nothing."""
        return Plan(
            argv=(SHELL, "-c", ":"),
            env={**settings.env, "HOME": settings.home},
            files=(),
            stdin=b"",
            store=None,
        )
