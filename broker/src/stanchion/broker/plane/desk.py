"""What one exchange asks of its attempt: terms, room, a place for each record, and when to stop.

It decides nothing; the attempt does. Everything here that may fail says so before a byte leaves.
"""

from typing import Protocol

from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.model_socket import ModelRequest
from stanchion.broker.plane.relay import Flow
from stanchion.broker.plane.sending import Pacing, Sendings
from stanchion.broker.plane.target import Target
from stanchion.protocol.exchange import Answered, Asked, Mismatch
from stanchion.protocol.launch import LaunchSpec


class Desk(Pacing, Protocol):
    """What an exchange needs of its attempt."""

    flows: set[Flow]
    limits: Limits

    @property
    def spec(self) -> LaunchSpec:
        """The frozen terms."""

    @property
    def enforced(self) -> bool:
        """Whether a mismatch ends the attempt."""

    @property
    def allow_fields(self) -> frozenset[str]:
        """Names of the field policy that the profile relaxes."""

    @property
    def target(self) -> Target:
        """Where requests go."""

    @property
    def stopping(self) -> bool:
        """Whether no further request is served."""

    def next_exchange(self) -> int:
        """The number of the next request."""

    def denied(self, word: str) -> None:
        """Put a refusal on record."""

    async def note_mismatch(self, asked: Asked, mismatch: Mismatch) -> None:
        """Put a difference on record; under enforce, order the stop."""

    async def admit(self, number: int, asked: Asked) -> bool:
        """Whether the budget has room for it; if not, the stop is ordered."""

    async def note_start(
        self,
        number: int,
        asked: Asked,
        request: ModelRequest,
        *,
        side: str | None,
        sent: Asked | None,
        corrections: tuple[str, ...],
    ) -> None:
        """Put the start on record, durably; LedgerError = it is not. `side`: which side request."""

    def note_alive(self, number: int) -> None:
        """The stream carried semantic events."""

    async def note_end(
        self, number: int, answered: Answered, *, scrubbed: bool, sendings: Sendings
    ) -> None:
        """Put the end on record, durably."""
