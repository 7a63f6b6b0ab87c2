"""How often a fault has struck, so that it can stop after its `times`.

The one thing the rehearsal remembers. It counts by turn and conversation (the digest of the
messages), so that a retry counts on, while another conversation at the same turn starts anew.
It lives as long as the process and must never be shared between two.
"""

from dataclasses import dataclass, field

from stanchion.rehearsal.faults.kinds import Fault


@dataclass(slots=True)
class Tally:
    """The requests that have met each counted fault."""

    _met: dict[tuple[int, str], int] = field(default_factory=dict)

    def due(self, fault: Fault | None, *, turn: int | None, conversation: str) -> Fault | None:
        """The fault if this request is to meet it, which it then has."""
        if fault is None or fault.times is None or turn is None:
            return fault
        met = self._met.get((turn, conversation), 0)
        if met >= fault.times:
            return None
        self._met[turn, conversation] = met + 1
        return fault
