"""A refusal: input that breaks a rule, said so that the reader can mend it.

Names the field, the value, the rule and the remedy; never a secret value.
"""

import msgspec


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why something did not start."""

    id: str
    """Stable word of the errors table, as `limit_missing`."""
    field: str
    """Where the value came from, as `--effort` or `profiles.evals.accounts.x.base_url`."""
    value: str | None
    """The value as given; None where there was none or where it may not be shown."""
    rule: str
    """What is required."""
    remedy: str
    """What to do next."""
    next: str | None = None
    """The command that does it, ready to paste, where whoever refused knows one."""

    def sentence(self) -> str:
        """One line for people."""
        shown = "" if self.value is None else f" = {self.value!r}"
        return f"{self.field}{shown}: {self.rule}. {self.remedy}"


class RefusedError(Exception):
    """Carries a refusal out of a check."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence())
        self.refusal = refusal


def refuse(
    id: str,  # noqa: A002 - the field's name
    *,
    field: str,
    value: object,
    rule: str,
    remedy: str,
    next: str | None = None,  # noqa: A002 - the field's name
) -> RefusedError:
    """The exception for a broken rule, ready to raise."""
    shown = None if value is None else str(value)
    return RefusedError(
        Refusal(id=id, field=field, value=shown, rule=rule, remedy=remedy, next=next)
    )
