"""`${NAME}` and `${NAME:-default}` in a task's variables: what Harbor takes from the host. Pure.

As in Harbor, only a text that is such a template as a whole is one. Never gives a secret away: a
variable whose name, on either side, looks like one is not read from the host; it has its default,
or the task is refused. What was read is said, since it becomes part of the frozen launch.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}", re.DOTALL)
_SECRET = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
"""Harbor's own rule for what it hides in its records, and PASSWD."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The value, and what there is to say about it."""

    value: str
    note: str | None = None


class NotExpandedError(ValueError):
    """Rule and remedy of a refusal."""

    def __init__(self, rule: str, remedy: str) -> None:
        super().__init__(rule)
        self.rule = rule
        self.remedy = remedy


def expand(name: str, text: str, host: Mapping[str, str]) -> Expanded:
    """The value of the variable `name` that a task writes as `text`."""
    template = _TEMPLATE.fullmatch(text)
    if template is None:
        return Expanded(text)
    wanted, default = template[1], template[2]
    if _SECRET.search(name) or _SECRET.search(wanted):
        if default is None:
            raise NotExpandedError(
                f"asks for {wanted} of this host, which by its name is a secret, and no secret "
                "enters a sandbox",
                f"write a value, or ${{{wanted}:-}} for an empty one",
            )
        return Expanded(default, f"its default; {wanted} of this host may be a secret")
    if wanted in host:
        return Expanded(host[wanted], f"{wanted} of this host; it is part of the frozen launch")
    if default is None:
        raise NotExpandedError(
            f"asks for {wanted}, which is not set on this host",
            f"set it, as export {wanted}=…, or give it a default: ${{{wanted}:-…}}",
        )
    return Expanded(default, f"its default; {wanted} is not set on this host")
