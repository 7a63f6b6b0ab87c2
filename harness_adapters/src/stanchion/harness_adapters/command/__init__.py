"""Any program of the user's: told what the launch declares by the texts of a file of theirs.

Decides how such a program is started, and refuses a launch that says what it cannot be told. What
it then asks for is compared on the wire like any other's. It keeps no session that anybody knows
how to read: its exit and the wire say how it ended. Pure: values in, values out.
"""

from collections.abc import Mapping

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import (
    Plan,
    PlannedFile,
    Refuses,
    SessionReader,
    Settings,
    Written,
)
from stanchion.harness_adapters.command.definition import (
    EFFORT_FIELDS,
    MAY_LEAVE_OUT,
    must_stand,
    told,
)
from stanchion.harness_adapters.command.reading import understood
from stanchion.harness_adapters.command.templates import filled, has_all, names_in, values
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.harness_adapters.without_model import NoSession
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Command, Correction, SideRequest
from stanchion.protocol.refusal import refuse

NAME = "command"


class OwnProgram:
    """The adapter of one such program."""

    name = NAME
    asks_model = True
    refuses: tuple[Refuses, ...] = ()

    def __init__(self, command: Command) -> None:
        self._command = command
        self.versions: tuple[str, ...] = (version(command),)
        self.dialects: tuple[Dialect, ...] = command.dialects
        self.header_wait_s = command.header_wait_s
        self.min_memory_mb = command.memory_mb

    def corrections(self, dialect: Dialect, output_limit: int) -> tuple[Correction, ...]:
        """The limit, where the program cannot say it."""
        field = self._command.limit_field
        if field is None or dialect not in self.dialects:
            return ()
        why = f"{self._command.name} has no way to be told its output limit"
        return (Correction(field=field, value=output_limit, why=why),)

    def effort_corrections(self, dialect: Dialect, effort: str | None) -> tuple[Correction, ...]:
        """The effort, where the program cannot say it."""
        field = EFFORT_FIELDS.get(dialect)
        unsaid = "effort" in self._command.cannot_say and dialect in self.dialects
        if field is None or effort is None or not unsaid:
            return ()
        why = f"{self._command.name} has no way to be told an effort"
        return (Correction(field=field, value=effort, why=why),)

    def side_requests(self, dialect: Dialect) -> tuple[SideRequest, ...]:  # noqa: ARG002 - the same for each
        """Those that the user declared."""
        return self._command.side_requests

    def check(self, settings: Settings) -> None:
        """Raise RefusedError for what this program would not be told, or not as it is."""
        name = self._command.name
        common.check_dialect(name, settings.dialect, self.dialects)
        common.check_model(name, settings.model)
        common.check_effort_form(name, settings.effort)
        common.check_tokens(name, "limits.output_tokens", settings.output_limit)
        common.check_tokens(name, "limits.context", settings.context)
        common.check_instruction(name, settings.instruction)
        common.check_places(settings)
        common.check_environment(settings, common.Reserved(prefixes=(), names=self._variables()))
        self._check_told(settings)
        self._check_specified(settings)

    def plan(self, settings: Settings) -> Plan:
        """How to start it so that it is told exactly this. Refuses what `check` refuses."""
        self.check(settings)
        command, known = self._command, values(settings)
        groups = [(group,) if isinstance(group, str) else group for group in command.argv]
        variables = {
            name: filled(text, known)
            for name, text in command.env.items()
            if has_all((text,), known)
        }
        files = [
            PlannedFile(filled(path, known), filled(text, known), 0o600)
            for path, text in command.files.items()
        ]
        return Plan(
            argv=tuple(
                filled(text, known) for group in groups if has_all(group, known) for text in group
            ),
            env={**surroundings(settings), **variables},
            files=tuple(files),
            stdin=filled(command.stdin, known).encode(),
            store=None,
        )

    def read_back(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
        """What stands in these arguments, variables and files."""
        return understood(self._command, env, files)

    def session(self) -> SessionReader:
        """One that reads nothing: what it prints is its own affair."""
        return NoSession()

    def _variables(self) -> tuple[str, ...]:
        return tuple(name.upper() for name in self._command.env)

    def _check_told(self, settings: Settings) -> None:
        known = told(self._command)
        asked = (
            ("effort", settings.effort),
            ("thinking_budget", settings.thinking_budget),
            ("context", settings.context),
        )
        for name, value in asked:
            if value is None or name in known or name in self._command.cannot_say:
                continue
            may = f', or list "{name}" in cannot_say' if name in MAY_LEAVE_OUT else ""
            raise refuse(
                "command_unsaid",
                field=name,
                value=value,
                rule=f"{self._command.name} is never told it: no text of its file has "
                f"{{{{{name}}}}}",
                remedy=f"Name it in the file{may}, or launch without it",
            )

    def _check_specified(self, settings: Settings) -> None:
        """A text that cannot be left out has a value for each of its names."""
        known = values(settings)
        for field, text in must_stand(self._command):
            missing = [name for name in names_in(text) if known[name] is None]
            if missing:
                raise refuse(
                    "command_unsaid",
                    field=missing[0],
                    value=None,
                    rule=f"{field} of {self._command.name}'s file names it, and this launch does "
                    "not say it",
                    remedy="Launch with it, or put it into an inner list of argv or into env, "
                    "which are left out without it",
                )


def version(command: Command) -> str:
    """The version of the harness `command` that this program is."""
    return f"{command.name}-{command.version}"
