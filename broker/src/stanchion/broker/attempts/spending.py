"""Counts an attempt's requests and output tokens against its budget. Pure.

While an answer is under way its whole output limit is reserved; what the provider reports takes
the reservation's place. An answer without a report keeps it: unknown is never counted as nothing,
and the words say how much of the sum is only reserved.
"""

from dataclasses import dataclass, field
from enum import Enum

from stanchion.protocol.exchange import Answered
from stanchion.protocol.launch import Budget


class Room(Enum):
    """What the budget says to the next request."""

    OPEN = "open"
    LATER = "later"
    """What is under way may use up the rest: it has to end first."""
    SPENT = "spent"


@dataclass(slots=True)
class Spending:
    """One attempt's."""

    budget: Budget
    requests: int = 0
    reported_tokens: int = 0
    unreported_tokens: int = 0
    """Reserved for answers that ended without a report."""
    unreported: int = 0
    """How many answers that are."""
    _reserved: dict[int, int] = field(default_factory=dict)

    @property
    def spent_tokens(self) -> int:
        """Reported, or reserved for good."""
        return self.reported_tokens + self.unreported_tokens

    @property
    def room(self) -> Room:
        """For one more request."""
        most_requests, most_tokens = self.budget.requests, self.budget.output_tokens
        if most_requests is not None and self.requests >= most_requests:
            return Room.SPENT
        if most_tokens is None:
            return Room.OPEN
        if self.spent_tokens >= most_tokens:
            return Room.SPENT
        under_way = sum(self._reserved.values())
        return Room.LATER if self.spent_tokens + under_way >= most_tokens else Room.OPEN

    def start(self, exchange: int, *, output_limit: int | None) -> None:
        """A request with this limit goes out."""
        self.requests += 1
        self._reserved[exchange] = output_limit or 0

    def tried(self, exchange: int, *, ambiguous: bool) -> None:
        """A sending failed, and another follows: one that may have been processed may have cost."""
        if ambiguous:
            self._unreported(self._reserved.get(exchange, 0))

    def end(self, exchange: int, answered: Answered, *, sent: bool = True) -> None:
        """It ended. `sent`: the end is that of a sending, none that is counted already."""
        reserved = self._reserved.pop(exchange, 0)
        usage = answered.usage
        if usage is not None and usage.output_tokens is not None:
            self.reported_tokens += usage.output_tokens
            if answered.output_includes_reasoning is False:  # billed all the same
                self.reported_tokens += usage.reasoning_tokens or 0
        elif sent and answered.may_have_cost:
            self._unreported(reserved)

    def _unreported(self, reserved: int) -> None:
        self.unreported_tokens += reserved
        self.unreported += 1

    @property
    def words(self) -> str:
        """How it stands against the budget."""
        parts = []
        if self.budget.requests is not None:
            parts.append(f"{self.requests} of {self.budget.requests} requests")
        if self.budget.output_tokens is not None:
            parts.append(f"{self.spent_tokens} of {self.budget.output_tokens} output tokens")
        if self.unreported:
            parts.append(
                f"{self.unreported_tokens} of them reserved for {self.unreported} answers "
                "that reported no usage"
            )
        return f"budget spent: {', '.join(parts)}"
