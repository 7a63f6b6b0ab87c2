"""Checks the values of a `task.toml`; a broken rule is a refusal with file and line. Pure."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from stanchion.protocol.launch import Artifact
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.tasks.host_variables import NotExpandedError, expand
from stanchion.runner.tasks.toml_lines import TomlLines
from stanchion.runner.tasks.users import LARGEST, User

Table = Mapping[str, object]

WEEK_S = 7 * 24 * 3600
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT])i?B?\Z", re.IGNORECASE)
_UNIT_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}", re.ASCII)


def parse_size_mb(text: str) -> int | None:
    """Megabytes of a size such as 2G or 512M, rounded up; None where it is no size."""
    match = _SIZE.match(text.strip())
    return match and math.ceil(float(match["number"]) * _UNIT_MB[match["unit"].upper()])


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one file."""

    where: str
    lines: TomlLines
    host: Mapping[str, str]
    notes: dict[str, str] = field(default_factory=dict)
    """What there is to say about a value that was taken."""

    def place(self, name: str) -> str:
        """File, line and field."""
        line = self.lines.line(*name.split("."))
        return f"{self.where}{'' if line is None else f':{line}'}, {name}"

    def refuse(self, name: str, value: object, rule: str, remedy: str = "") -> RefusedError:
        return refuse(
            "task_refused",
            field=self.place(name),
            value=value,
            rule=rule,
            remedy=remedy or f"change or remove {name}",
        )

    def table(self, data: Table, name: str) -> Table:
        value = data.get(name.rpartition(".")[2], {})
        if not isinstance(value, dict):
            raise self.refuse(name, value, "must be a table")
        return value

    def path(self, value: object, name: str) -> str:
        if (
            not isinstance(value, str)
            or not value.startswith("/")
            or ".." in value.split("/")
            or "\0" in value
        ):
            raise self.refuse(name, value, "must be an absolute path without ..")
        return value

    def seconds(self, value: object, name: str) -> int:
        number = self.number(value, name, "must be a number of seconds above 0")
        if number > WEEK_S:
            raise self.refuse(name, value, "must be at most a week of seconds")
        return math.ceil(number)

    def size_mb(self, table: Table, name: str) -> int | None:
        """Of `NAME_mb`, or of the older text `NAME`; both only if they agree."""
        mb, older = table.get(f"{name}_mb"), table.get(name)
        name = f"environment.{name}"
        size_mb = older_mb = None
        if mb is not None:
            size_mb = math.ceil(
                self.number(mb, f"{name}_mb", "must be a number of megabytes above 0")
            )
        if older is not None:
            older_mb = parse_size_mb(older) if isinstance(older, str) else None
            if not older_mb:
                raise self.refuse(name, older, "must be a size, such as 2G")
        if size_mb is not None and older_mb not in {None, size_mb}:
            raise self.refuse(name, older, f"differs from {name}_mb = {size_mb}")
        return older_mb if size_mb is None else size_mb

    def answers(self, value: object, name: str) -> tuple[str, ...] | None:
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            raise self.refuse(name, value, "must be a list of paths")
        return tuple(self.path(path, name) for path in value)

    def reward(self, value: object, name: str) -> str:
        rule = "must be a decimal number"
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise self.refuse(name, value, rule)
        try:
            finite = math.isfinite(float(value))
        except (ValueError, OverflowError):
            finite = False
        if not finite:
            raise self.refuse(name, value, rule)
        return str(value)

    def user(self, value: object, name: str) -> User | None:
        if value is None:
            return None
        number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
        if not number and not (isinstance(value, str) and self._names_user(value)):
            raise self.refuse(name, value, "must be a user's name or number")
        return User(str(value), self.place(name))

    @staticmethod
    def _names_user(text: str) -> bool:
        if text.isascii() and text.isdecimal():
            return int(text) <= LARGEST
        return _USER.fullmatch(text) is not None

    def variables(self, value: object, name: str) -> dict[str, str]:
        """With what Harbor takes from the host, and a note about each such one."""
        if not isinstance(value, dict):
            raise self.refuse(name, value, "must be a table of texts")
        found: dict[str, str] = {}
        for variable, text in value.items():
            inner = f"{name}.{variable}"
            if not isinstance(text, str):
                raise self.refuse(inner, text, "must be text")
            if not variable or "=" in variable or "\0" in variable + text:
                raise self.refuse(
                    inner, None, "has no = or NUL in its name, and no NUL in its text"
                )
            try:
                expanded = expand(variable, text, self.host)
            except NotExpandedError as error:
                raise self.refuse(inner, text, error.rule, error.remedy) from error
            found[variable] = expanded.value
            if expanded.note is not None:
                self.notes[inner] = expanded.note
        return found

    def artifacts(self, value: object) -> tuple[Artifact, ...]:
        if not isinstance(value, list):
            raise self.refuse("artifacts", value, "must be a list of paths or tables")
        return tuple(self._artifact(entry) for entry in value)

    def _artifact(self, entry: object) -> Artifact:
        if isinstance(entry, str):
            return Artifact(source=self.path(entry, "artifacts"))
        if not isinstance(entry, dict):
            raise self.refuse("artifacts", entry, "must be a list of paths or tables")
        for key in entry:
            if key not in {"source", "destination", "exclude", "service"}:
                rule = f"has source, destination, exclude and service, and no {key}"
                raise self.refuse("artifacts", key, rule)
        if entry.get("service") not in {None, "main"}:
            raise self.refuse(
                "artifacts", entry["service"], "service must be main: there is one sandbox"
            )
        exclude = entry.get("exclude", [])
        if not isinstance(exclude, list) or not all(isinstance(each, str) for each in exclude):
            raise self.refuse("artifacts", exclude, "exclude must be a list of patterns")
        return Artifact(
            source=self.path(entry.get("source"), "artifacts"),
            destination=self._destination(entry.get("destination")),
            exclude=tuple(exclude),
        )

    def _destination(self, value: object) -> str | None:
        if value is None or value == "":
            return None
        parts = value.split("/") if isinstance(value, str) else [""]
        if parts[0] == "" or ".." in parts or not set("".join(parts)) - {".", "\0"}:
            rule = "destination must be a path below artifacts/, without .."
            raise self.refuse("artifacts", value, rule)
        assert isinstance(value, str)
        return value

    def number(self, value: object, name: str, rule: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refuse(name, value, rule)
        if not 0 < value < math.inf:
            raise self.refuse(name, value, rule)
        return float(value)
