"""What a verified bundle says about an attempt: requested, written, on the wire, with counts.

Pure. It reads the wire from `sent` of each exchange.start and from nothing else; what the sandbox
asserted is kept apart. A request counts as a side request only where the launch declared one of
that name, so a bundle cannot excuse a request from its terms afterwards.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from stanchion.broker.receipts.bundle import Verified
from stanchion.protocol.exchange import Answered, Asked, ExchangeResult, Finish
from stanchion.protocol.receipt import (
    Denied,
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    Mismatched,
    RunStarted,
)
from stanchion.protocol.usage import Usage


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One value on the wire and how many main requests carried it."""

    value: str | int | None
    requests: int


class Along(msgspec.Struct, frozen=True, kw_only=True):
    """One declared value along its way."""

    requested: str | int | None
    source: str | None
    """Who declared it, where that is on record."""
    written: str | int | None
    """As the supervisor read it back from the harness's configuration; the sandbox's word."""
    on_the_wire: tuple[Seen, ...]
    """Each distinct value, in order of first sight; the broker's word."""


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """Completed responses to main requests, by whether there was any reasoning in them."""

    present: int
    absent: int
    unknown: int


class Lengths(msgspec.Struct, frozen=True, kw_only=True):
    """How main requests ended, as far as their token limit goes."""

    stops: int
    """Responses that were cut at their limit."""
    unknown: int
    """Completed responses that named no reason, and requests without an end on record."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """Completed responses to main requests, beside their reasoning and their length."""

    served: tuple[Seen, ...] = ()
    """Each model that a response named, in order of first sight; null = it named none."""
    without_usage: int = 0
    """Responses that reported no figure at all."""
    tool_calls: int = 0
    """Whole ones, as far as they were counted."""


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was not as launched."""

    field: str
    declared: str | None
    observed: str | None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a reader wants to know of one attempt, or a requirement can ask for."""

    model: Along
    output_limit: Along
    effort: Along
    account: str
    harness: str
    """`name@version`."""
    isolation: tuple[str, ...]
    """As the supervisor tested it, once for each start; the sandbox's word."""
    outcome: str | None
    grade: str | None
    score: str | None
    requests: int
    """Main requests."""
    side_requests: int
    corrected: int
    """Requests that left with a declared correction."""
    completed: int
    denied: int
    mismatches: int
    interrupted: int = 0
    """Requests that were under way when their broker went away."""
    sendings: int = 0
    """How often requests left, each try counted."""
    calls: int = 0
    """Logical calls: a request that the harness repeats, because the broker's pacer handed it back,
    is one with the first."""
    ambiguous: int = 0
    """Sendings of which nobody knows whether the provider processed them."""
    malformed: int = 0
    """Answers that said something that cannot be: it is null on record."""
    flags: dict[str, int] = {}
    """What was odd about answers, and how many of them."""
    held_ms: int = 0
    """Time that the broker held requests back, over all of them."""
    gave_up: int = 0
    """Requests that the broker stopped trying."""
    profile: str = ""
    policy: str = ""
    account_key: str | None = None
    """Fingerprint of the key that paid, as this broker makes it; None without a key."""
    reasoning: Reasoning | None = None
    lengths: Lengths | None = None
    differing: tuple[Differing, ...] = ()
    """The mismatches, in order."""
    thinking_budget: Along | None = None
    """None = none was asked for."""
    answers: Answers = Answers()
    close_flags: tuple[str, ...] = ()
    """What the close says beside how it ended."""


def main_requests(bundle: Verified) -> list[ExchangeStart]:
    """Every request that the terms apply to in full."""
    declared = {side.name: side for side in bundle.opening.launch.spec.side_requests}

    def is_side(start: ExchangeStart) -> bool:
        side = declared.get(start.side) if start.side is not None else None
        limit = start.sent.output_limit
        return side is not None and limit is not None and limit <= side.max_output_tokens

    return [start for start in starts(bundle) if not is_side(start)]


def starts(bundle: Verified) -> list[ExchangeStart]:
    """Every request that left."""
    return [record for record in bundle.records if isinstance(record, ExchangeStart)]


def gather(bundle: Verified) -> Facts:
    """The facts of a verified bundle."""
    spec, records, closing = bundle.opening.launch.spec, bundle.records, bundle.closing
    all_starts, main = starts(bundle), main_requests(bundle)
    sent, sendings = [start.sent for start in main], _sendings(bundle)
    ends = [record for record in records if isinstance(record, ExchangeEnd)]
    ran = next((record for record in records if isinstance(record, RunStarted)), None)
    limit = spec.limits.output_tokens
    completed = _completed(main, ends)
    return Facts(
        model=Along(
            requested=spec.model.id,
            source=None,
            written=ran.written_model if ran else None,
            on_the_wire=_seen(sent, "model"),
        ),
        output_limit=Along(
            requested=limit.value if limit else None,
            source=limit.source.value if limit else None,
            written=ran.written_output_limit if ran else None,
            on_the_wire=_seen(sent, "output_limit"),
        ),
        effort=Along(
            requested=spec.effort.word,
            source=None,
            written=ran.written_effort if ran else None,
            on_the_wire=_seen(sent, "effort"),
        ),
        account=bundle.opening.launch.account.name,
        harness=f"{spec.harness.name}@{spec.harness.version}",
        isolation=tuple(record.isolation for record in records if isinstance(record, RunStarted)),
        outcome=closing.reason if closing else None,
        grade=closing.grade if closing else None,
        score=closing.score if closing else None,
        requests=len(main),
        side_requests=len(all_starts) - len(main),
        corrected=sum(bool(start.corrections) for start in all_starts),
        completed=sum(end.answered.result is ExchangeResult.COMPLETED for end in ends),
        denied=sum(isinstance(record, Denied) for record in records),
        mismatches=sum(isinstance(record, Mismatched) for record in records),
        interrupted=sum(end.answered.result is ExchangeResult.INTERRUPTED for end in ends),
        sendings=len(sendings),
        calls=sum(start.call in {None, start.exchange} for start in all_starts),
        ambiguous=sum(sendings),
        malformed=sum(bool(end.answered.malformed) for end in ends),
        flags=dict(Counter(flag.value for end in ends for flag in end.answered.flags)),
        held_ms=sum(end.held_ms for end in ends),
        gave_up=sum(end.gave_up is not None for end in ends),
        profile=spec.profile,
        policy=bundle.opening.launch.policy.value,
        account_key=bundle.opening.launch.account.fingerprint,
        reasoning=_reasoning(completed),
        lengths=_lengths(main, ends),
        differing=tuple(
            Differing(
                field=record.mismatch.field,
                declared=record.mismatch.declared,
                observed=record.mismatch.observed,
            )
            for record in records
            if isinstance(record, Mismatched)
        ),
        thinking_budget=_budget(spec.effort.thinking_budget, sent),
        answers=_answers(completed),
        close_flags=closing.flags if closing else (),
    )


def _budget(requested: int | None, sent: list[Asked]) -> Along | None:
    if requested is None:
        return None
    seen = _seen(sent, "thinking_budget")
    return Along(requested=requested, source=None, written=None, on_the_wire=seen)


def _answers(completed: list[Answered]) -> Answers:
    served = Counter(answered.model_served for answered in completed)
    return Answers(
        served=tuple(Seen(value=value, requests=count) for value, count in served.items()),
        without_usage=sum(answered.usage in {None, Usage()} for answered in completed),
        tool_calls=sum(answered.tool_calls or 0 for answered in completed),
    )


def _sendings(bundle: Verified) -> list[bool]:
    """Of each sending, whether it is ambiguous; an end that came during a hold is that of none."""
    tries = [record for record in bundle.records if isinstance(record, ExchangeTry)]
    failed = Counter(record.exchange for record in tries)
    ends = [
        record.answered.ambiguous
        for record in bundle.records
        if isinstance(record, ExchangeEnd) and record.tries > failed[record.exchange]
    ]
    return [*(record.ambiguous for record in tries), *ends]


def _completed(main: list[ExchangeStart], ends: list[ExchangeEnd]) -> list[Answered]:
    numbers = {start.exchange for start in main}
    return [
        end.answered
        for end in ends
        if end.exchange in numbers and end.answered.result is ExchangeResult.COMPLETED
    ]


def _reasoning(completed: list[Answered]) -> Reasoning:
    seen = Counter(answered.reasoning_present for answered in completed)
    return Reasoning(present=seen[True], absent=seen[False], unknown=seen[None])


def _lengths(main: list[ExchangeStart], ends: list[ExchangeEnd]) -> Lengths:
    ended = {end.exchange for end in ends}
    finishes = [answered.finish for answered in _completed(main, ends)]
    return Lengths(
        stops=sum(finish is Finish.LENGTH for finish in finishes),
        unknown=sum(finish in {None, Finish.UNKNOWN} for finish in finishes)
        + sum(start.exchange not in ended for start in main),
    )


def _seen(sent: Iterable[Asked], field: str) -> tuple[Seen, ...]:
    counts: Counter[str | int | None] = Counter(getattr(asked, field) for asked in sent)
    return tuple(Seen(value=value, requests=count) for value, count in counts.items())
