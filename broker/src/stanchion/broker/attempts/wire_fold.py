"""Folds what the broker saw of an attempt's exchanges into its wire facts and figures. Pure.

A declared side request (a title, a quota probe) is no word of the agent's: it is counted and paid
for, and says nothing about limit, effort, reasoning, length stops or how the attempt went.
"""

from dataclasses import dataclass, field

import msgspec

from stanchion.broker.plane.dialects.base import REFUSALS
from stanchion.protocol.call_match import SentCalls
from stanchion.protocol.evidence import WireFacts
from stanchion.protocol.exchange import (
    Answered,
    Asked,
    ErrorClass,
    ExchangeResult,
    Finish,
    Mismatch,
)
from stanchion.protocol.usage import Usage, agreed, mixed, total

_LEFT = frozenset({ExchangeResult.CLIENT_GONE, ExchangeResult.REVOKED})
"""What did not end an answer, but the wish for one."""
MOST_RESPONSES = 20_000
"""With tool calls, that are remembered."""
_COMPLETED, _INTERRUPTED = ExchangeResult.COMPLETED, ExchangeResult.INTERRUPTED
_LENGTH = Finish.LENGTH
"""Looked up once: an enumeration's members are slow to find (3.11)."""


@dataclass(slots=True)
class _UnderWay:
    """One request with a start and no end."""

    side: str | None = None
    tries: int = 0
    """Sendings that failed and are on record."""


@dataclass(slots=True)
class WireFold:
    """Everything so far."""

    exchanges: int = 0
    side_requests: int = 0
    """How many of them are declared side requests."""
    completed: int = 0
    """With content."""
    whole: int = 0
    """Completed, with or without."""
    length_stops: int = 0
    limits: list[int | None] = field(default_factory=list)
    """Each distinct output limit on the wire, in order of first sight."""
    limit_corrected: bool = False
    """Whether the broker wrote the limit of any of them, as an adapter declared it."""
    efforts: list[str | None] = field(default_factory=list)
    models_served: list[str] = field(default_factory=list)
    mismatch: Mismatch | None = None
    secret_scrubbed: bool = False
    last: Answered | None = None
    first_completed_at_ms: int | None = None
    held_ms: int = 0
    """Time that the pacer held requests, over all of them that ended."""
    gave_up: bool = False
    budget_spent: str | None = None
    calls: int = 0
    """Logical calls; a request that the pacer had handed back and the harness repeats is none."""
    sendings: int = 0
    """How often requests left, each try counted."""
    ambiguous: int = 0
    """Sendings of which nobody knows whether the provider processed them."""
    sent_calls: list[SentCalls] = field(default_factory=list)
    """Tool calls of completed main responses that had any, as far as they are remembered."""
    more_calls: bool = False
    """There were more."""
    _under_way: dict[int, _UnderWay] = field(default_factory=dict)
    _usages: list[Usage | None] = field(default_factory=list)
    _includes_cache: list[bool | None] = field(default_factory=list)
    """Of each answer with figures, whether the input has the cache in it."""
    _includes_reasoning: list[bool | None] = field(default_factory=list)
    _reasoning: list[bool | None] = field(default_factory=list)

    def asked(self, asked: Asked) -> None:
        """A main request's words were read, whether or not it was sent."""
        if asked.output_limit not in self.limits:
            self.limits.append(asked.output_limit)
        if asked.effort not in self.efforts:
            self.efforts.append(asked.effort)

    def differs(self, mismatch: Mismatch) -> None:
        """A request differs from the terms; the first one stays."""
        if self.mismatch is None:
            self.mismatch = mismatch

    def started(
        self,
        number: int,
        sent: Asked,
        *,
        side: str | None = None,
        call: int | None = None,
        corrections: tuple[str, ...] = (),
    ) -> None:
        """A request is on record and leaves. `call`: the logical call that it belongs to."""
        self.exchanges += 1
        self.limit_corrected = self.limit_corrected or sent.output_limit_field in corrections
        self.calls += call is None or call == number
        self._under_way[number] = _UnderWay(side)
        if side is None:
            self.asked(sent)
        else:
            self.side_requests += 1

    def side_of(self, number: int) -> str | None:
        """Name of the side request that a request under way is; None = a main request."""
        return self._of(number).side

    def tried(self, number: int, *, ambiguous: bool) -> None:
        """A sending failed and is on record; the request waits for another."""
        self._of(number).tries += 1
        self._left(ambiguous=ambiguous)
        if ambiguous:
            self._usages.append(None)

    def ends_a_sending(self, number: int, tries: int) -> bool:
        """Whether an end after so many tries is that of the last sending itself.

        One that came while the request was held is not: each of its sendings is on record.
        """
        return tries > self._of(number).tries

    def ended(
        self,
        number: int,
        answered: Answered,
        *,
        at_ms: int,
        scrubbed: bool,
        tries: int = 1,
        held_ms: int = 0,
        gave_up: bool = False,
    ) -> None:
        """An exchange ended, after so many tries in all."""
        self.held_ms += held_ms
        self.gave_up = self.gave_up or gave_up
        self.secret_scrubbed = self.secret_scrubbed or scrubbed
        if answered.model_served is not None and answered.model_served not in self.models_served:
            self.models_served.append(answered.model_served)
        own = self.ends_a_sending(number, tries)
        cost = own and answered.may_have_cost
        if own:
            self._left(ambiguous=answered.ambiguous)
        if cost:
            self._usages.append(answered.usage)
        if answered.usage is not None:
            self._includes_cache.append(answered.input_includes_cache)
            self._includes_reasoning.append(answered.output_includes_reasoning)
        if self.side_of(number) is None:
            self._main_ended(number, answered, at_ms, cost=cost)
        del self._under_way[number]

    def _of(self, number: int) -> _UnderWay:
        """What is known of one; of one whose start was not told that is nothing."""
        under_way = self._under_way.get(number)
        if under_way is None:
            under_way = self._under_way[number] = _UnderWay()
        return under_way

    def _left(self, *, ambiguous: bool) -> None:
        self.sendings += 1
        self.ambiguous += ambiguous

    def _main_ended(self, number: int, answered: Answered, at_ms: int, *, cost: bool) -> None:
        self.last = answered
        if answered.result is _COMPLETED and answered.tool_calls != 0:
            self._calls_sent(number, answered)
        self.length_stops += answered.finish is _LENGTH
        self.whole += answered.result is _COMPLETED
        if answered.has_content:
            self.completed += 1
            if self.first_completed_at_ms is None:
                self.first_completed_at_ms = at_ms
        began = answered.status is not None or answered.result is _INTERRUPTED
        if cost and began:
            self._reasoning.append(answered.reasoning_present)

    def _calls_sent(self, number: int, answered: Answered) -> None:
        if len(self.sent_calls) == MOST_RESPONSES:
            self.more_calls = True
            return
        ids = answered.tool_call_ids
        self.sent_calls.append(SentCalls(exchange=number, calls=answered.tool_calls, ids=ids))

    @property
    def usage(self) -> Usage:
        """Over all answers; what one did not report, or counted otherwise, is unknown."""
        usage = total(self._usages)
        if mixed(self._includes_cache):
            usage = msgspec.structs.replace(usage, input_tokens=None)
        if mixed(self._includes_reasoning):
            usage = msgspec.structs.replace(usage, output_tokens=None)
        return usage

    @property
    def input_includes_cache(self) -> bool | None:
        """Whether the summed input has in it what a cache gave or took; None = not known."""
        return agreed(self._includes_cache)

    @property
    def output_includes_reasoning(self) -> bool | None:
        """Whether the summed output has the reasoning in it; None = not known."""
        return agreed(self._includes_reasoning)

    @property
    def reasoning_present(self) -> bool | None:
        """True on any; False if no completed response had some; else None."""
        if True in self._reasoning:
            return True
        return False if self._reasoning and None not in self._reasoning else None

    def facts(self, *, enforced: bool) -> WireFacts:
        """The evidence."""
        last = self.last
        return WireFacts(
            exchanges=self.exchanges,
            completed=self.completed,
            whole=self.whole,
            last_finish=None if last is None else last.finish,
            last_result_ok=None if last is None else last.result is ExchangeResult.COMPLETED,
            last_has_content=None if last is None else last.has_content,
            last_left=None if last is None else last.result in _LEFT,
            length_stops=self.length_stops,
            mismatch=self.mismatch,
            enforced=enforced,
            provider_refused=_refused(last),
            gave_up=self.gave_up,
            held_ms=self.held_ms,
            budget_spent=self.budget_spent,
            models_served=tuple(self.models_served),
            secret_scrubbed=self.secret_scrubbed,
        )


def _refused(last: Answered | None) -> ErrorClass | None:
    refusing = {ExchangeResult.PROVIDER_ERROR, ExchangeResult.NOT_SENT}
    if last is None or last.result not in refusing:
        return None
    return last.error_class if last.error_class in REFUSALS else None
