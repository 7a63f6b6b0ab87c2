"""Which number a user of a task has. Pure."""

from dataclasses import dataclass

from stanchion.protocol.refusal import refuse

LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class User:
    """A user as a task names it."""

    name: str
    where: str
    """File, line and field, for a refusal."""


def number_of(user: User | None, passwd: str | None) -> int:
    """Its number: itself, or by the image's passwd file. None = root; no file = none can be had."""
    if user is None or user.name == "root":
        return 0
    if user.name.isascii() and user.name.isdecimal():
        return int(user.name)
    for line in (passwd or "").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and fields[0] == user.name and fields[2].isdecimal():
            return int(fields[2])
    raise refuse(
        "task_refused",
        field=user.where,
        value=user.name,
        rule="no user of this name is in the image's /etc/passwd",
        remedy="use a number, such as 1000, or an image that has this user",
    )
