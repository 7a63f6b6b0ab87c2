"""What a broker knew of the wire, from its own receipts."""

from typing import Any

import msgspec

from fakes.receipts import asked, exchange_end, exchange_start, frozen_launch, honest
from stanchion.broker.attempts.replaying import Begun, Replayed, interrupted, replay
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish, Mismatch
from stanchion.protocol.launch import Budget
from stanchion.protocol.receipt import (
    ClaimRecorded,
    Denied,
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    HostRecorded,
    Mismatched,
)
from stanchion.protocol.usage import Usage

SPEC = msgspec.structs.replace(frozen_launch().spec, budget=Budget(requests=9, output_tokens=500))
HOST = HostFacts(sandbox_exit=0)


def replayed(*records: tuple[type[msgspec.Struct], dict[str, Any]]) -> Replayed:
    writing = honest(exchanges=0)
    for kind, fields in records:
        writing.add(kind, **fields)
    found = verify(writing.bundle())
    assert isinstance(found, Verified), found
    return replay(found.records, SPEC)


def end(number: int, answered: Answered, **changes: object) -> tuple[type[msgspec.Struct], Any]:
    return ExchangeEnd, {**exchange_end(number), "answered": answered, **changes}


def start(number: int, *, side: str | None = None) -> tuple[type[msgspec.Struct], Any]:
    return ExchangeStart, exchange_start(number, side=side)


def failed_try(
    number: int, sending: int, held_ms: int, *, ambiguous: bool = False
) -> tuple[type[msgspec.Struct], Any]:
    return ExchangeTry, {
        "exchange": number,
        "number": sending,
        "status": 429,
        "error_class": ErrorClass.RATE_LIMITED,
        "retry_after_ms": None,
        "held_ms": held_ms,
        "ambiguous": ambiguous,
    }


def test_the_wire_is_as_the_former_broker_saw_it() -> None:
    good = Answered(
        result=ExchangeResult.COMPLETED,
        status=200,
        finish=Finish.LENGTH,
        model_served="m",
        text_present=True,
        reasoning_present=True,
        usage=Usage(input_tokens=1, output_tokens=40),
    )
    so_far = replayed(
        start(1), end(1, good, held_ms=7, secret_scrubbed=True), start(2), failed_try(2, 1, 30)
    )
    wire = so_far.wire
    assert (wire.exchanges, wire.completed, wire.length_stops, wire.held_ms) == (2, 1, 1, 7)
    assert (wire.limits, wire.efforts) == ([128_000], ["max"])
    assert (wire.models_served, wire.reasoning_present, wire.secret_scrubbed) == (["m"], True, True)
    assert wire.usage.output_tokens == 40
    assert wire.first_completed_at_ms is not None
    assert so_far.numbers == 2
    assert so_far.begun == {2: Begun(tries=2, held_ms=30)}
    assert so_far.ended == {1: good}
    assert (so_far.spending.requests, so_far.spending.reported_tokens) == (2, 40)


def test_what_was_given_up_stays_given_up() -> None:
    refused = Answered(result=ExchangeResult.PROVIDER_ERROR, status=429)
    assert replayed(start(1), end(1, refused, gave_up="too long")).wire.gave_up
    assert not replayed(start(1), end(1, refused)).wire.gave_up


def test_an_interrupted_request_may_have_cost_anything() -> None:
    so_far = replayed(start(1), end(1, interrupted(secure=False)))
    assert so_far.wire.usage.output_tokens is None
    assert so_far.wire.reasoning_present is None
    assert so_far.spending.unreported == 1


def difference(field: str, observed: str | None, *, enforced: bool) -> Replayed:
    mismatch = Mismatch(exchange=4, field=field, declared="1", observed=observed)
    return replayed((Mismatched, {"mismatch": mismatch, "enforced": enforced}))


def test_a_request_that_was_refused_for_its_terms_is_still_seen() -> None:
    assert difference("output_limit", "32000", enforced=True).wire.limits == [32_000]
    assert difference("output_limit", None, enforced=True).wire.limits == [None]
    assert difference("effort", "low", enforced=True).wire.efforts == ["low"]
    assert difference("model", "other", enforced=True).wire.efforts == []
    observed = difference("output_limit", "32000", enforced=False)
    assert observed.wire.limits == []
    assert observed.wire.mismatch is not None
    assert observed.numbers == 4


def test_a_word_that_was_seen_before_is_not_seen_twice() -> None:
    mismatches = [
        Mismatch(exchange=number, field=field, declared="1", observed=observed)
        for number, field, observed in ((2, "output_limit", "128000"), (3, "effort", "max"))
    ]
    so_far = replayed(
        start(1), *((Mismatched, {"mismatch": m, "enforced": True}) for m in mismatches)
    )
    assert (so_far.wire.limits, so_far.wire.efforts) == ([128_000], ["max"])
    assert so_far.wire.mismatch == mismatches[0]


def test_life_and_end_are_read_too() -> None:
    so_far = replayed(
        (Denied, {"why": "unauthorized"}),
        (Denied, {"why": "security: boot_differs: x"}),
        (ClaimRecorded, {"asserted_by": "sandbox", "claim_sha256": "ab"}),
        (HostRecorded, {"asserted_by": "host", "host": HOST}),
    )
    assert so_far.opening is not None
    assert (so_far.denials, so_far.start_recorded) == (1, True)
    assert (so_far.claim_recorded, so_far.host, so_far.close) == (True, HOST, None)


def test_nothing_on_record_is_nothing_known() -> None:
    so_far = replay((), SPEC)
    assert (so_far.opening, so_far.numbers, so_far.start_recorded) == (None, 0, False)
    assert (so_far.wire.exchanges, so_far.wire.limits, so_far.begun) == (0, [], {})


def test_a_side_request_stays_one() -> None:
    title = Answered(result=ExchangeResult.COMPLETED, status=200, finish=Finish.LENGTH)
    so_far = replayed(
        start(1, side="title"), end(1, title), start(2, side="title"), failed_try(2, 1, 30)
    )
    wire = so_far.wire
    assert (wire.exchanges, wire.side_requests, wire.length_stops) == (2, 2, 0)
    assert (wire.limits, wire.efforts, wire.last) == ([], [], None)
    assert so_far.begun == {2: Begun(side="title", tries=2, held_ms=30)}
    assert so_far.sides == {1: "title", 2: "title"}
    assert so_far.spending.requests == 2


def test_what_counts_is_what_was_sent() -> None:
    """A corrected request asked for something else."""
    told = {**exchange_start(1, sent=asked(limit=64_000, effort="high"))}
    so_far = replayed((ExchangeStart, told))
    assert (so_far.wire.limits, so_far.wire.efforts) == ([64_000], ["high"])


def test_calls_and_sendings_are_counted_as_they_were() -> None:
    good = Answered(
        result=ExchangeResult.COMPLETED, status=200, usage=Usage(input_tokens=1, output_tokens=2)
    )
    so_far = replayed(
        start(1),
        failed_try(1, 1, 30, ambiguous=True),
        end(1, good, tries=2),
        (ExchangeStart, {**exchange_start(2), "call": 1}),
        end(2, good),
        start(3),
        failed_try(3, 1, 30),
        end(3, Answered(result=ExchangeResult.CLIENT_GONE), tries=1),
    )
    wire = so_far.wire
    assert (wire.exchanges, wire.calls, wire.sendings, wire.ambiguous) == (3, 2, 4, 1)
    assert wire.usage.output_tokens is None
    assert so_far.spending.unreported == 1
