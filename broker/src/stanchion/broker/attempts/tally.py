"""Counts over all attempts of this broker since it started. Pure.

Counted by the account of the configuration and by our own closed words, never by anything that a
sandbox or a provider wrote. What a provider did not report is not in the sums: it is counted apart.
"""

from collections import Counter
from dataclasses import dataclass, field

from stanchion.protocol.exchange import Answered
from stanchion.protocol.launch import FrozenLaunch

AccountName = tuple[str, str]
"""Profile and account."""
_KINDS = tuple(
    (kind, f"{kind}_tokens")
    for kind in ("input", "output", "reasoning", "cache_read", "cache_write")
)


@dataclass(slots=True)
class Tally:
    """One broker's."""

    exchanges: Counter[tuple[AccountName, str, str]] = field(default_factory=Counter)
    """By result and error class (empty = none)."""
    sendings: Counter[AccountName] = field(default_factory=Counter)
    ambiguous: Counter[AccountName] = field(default_factory=Counter)
    """Sendings of which nobody knows whether the provider processed them."""
    held_ms: Counter[AccountName] = field(default_factory=Counter)
    tokens: Counter[tuple[AccountName, str]] = field(default_factory=Counter)
    """By kind, as far as it was reported."""
    unreported: Counter[AccountName] = field(default_factory=Counter)
    """Answers without a usage report."""
    closed: Counter[str] = field(default_factory=Counter)
    """Attempts by how they ended; those of former brokers too."""

    def tried(self, launch: FrozenLaunch, answered: Answered) -> None:
        """A sending failed, and another follows."""
        self._left((launch.spec.profile, launch.account.name), answered)

    def ended(self, launch: FrozenLaunch, answered: Answered, *, sent: bool, held_ms: int) -> None:
        """An exchange ended. `sent`: the end is that of a sending, none that is counted already."""
        account = (launch.spec.profile, launch.account.name)
        if sent:
            self._left(account, answered)
        self.exchanges[account, answered.result, answered.error_class or ""] += 1
        self.held_ms[account] += held_ms
        if answered.usage is None:
            self.unreported[account] += 1
            return
        for kind, name in _KINDS:
            count = getattr(answered.usage, name)
            if count is not None:
                self.tokens[account, kind] += count

    def _left(self, account: AccountName, answered: Answered) -> None:
        self.sendings[account] += 1
        self.ambiguous[account] += answered.ambiguous
