"""The part of an audit that a smoke run is judged from. Pure.

Read from the audit's JSON, never from what the harness or a live view said; what a later audit adds
is passed over.
"""

import msgspec

VERIFIED = "verified"


class SeenOnWire(msgspec.Struct, frozen=True, kw_only=True):
    """One value and how many main requests, or responses to them, carried it."""

    value: str | int | None
    requests: int


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One declared value along its way."""

    requested: str | int | None
    on_the_wire: tuple[SeenOnWire, ...]


class ReasoningSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Completed responses by whether they had reasoning."""

    present: int
    absent: int
    unknown: int


class LengthsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Responses cut at their limit, and those of which nobody knows."""

    stops: int
    unknown: int


class AnswersSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Completed responses by what they named, reported and called."""

    served: tuple[SeenOnWire, ...] = ()
    without_usage: int = 0
    tool_calls: int = 0


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A request that differed from the launch."""

    field: str
    declared: str | None
    observed: str | None


class WireFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the receipts say of one attempt."""

    output_limit: Declared
    effort: Declared
    requests: int
    outcome: str | None
    score: str | None
    model: Declared = Declared(requested=None, on_the_wire=())
    thinking_budget: Declared | None = None
    """None = none was asked for."""
    reasoning: ReasoningSeen | None = None
    lengths: LengthsSeen | None = None
    answers: AnswersSeen = AnswersSeen()
    differing: tuple[Refused, ...] = ()
    close_flags: tuple[str, ...] = ()

    @property
    def completed(self) -> int:
        """Main requests that were answered whole."""
        seen = self.reasoning
        return 0 if seen is None else seen.present + seen.absent + seen.unknown


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """One audit's report."""

    path: str
    verdict: str
    why: str | None = None
    exit_code: int = 1
    facts: WireFacts | None = None
