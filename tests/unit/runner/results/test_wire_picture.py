"""Counts over a bundle, whole or not."""

from tests.fakes.receipts import (
    asked,
    closed,
    ending,
    exchange_end,
    exchange_start,
    exchange_try,
    honest,
)

from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, ExchangeTry, HostRecorded
from stanchion.runner.results.wire_picture import picture


def test_each_distinct_value_is_counted() -> None:
    sent = [asked(), asked(limit=64_000), asked(limit=64_000, effort=None)]
    found = picture(honest(sent=lambda number: sent[number - 1]).close(**ending()))

    assert found.limits == {128_000: 1, 64_000: 2}
    assert found.efforts == {"max": 2, None: 1}
    assert (found.requests, found.completed, found.ended) == (3, 3, 3)
    assert found.close is not None
    assert found.close.reason == "completed"


def test_side_requests_are_left_out() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2, sent=asked(limit=20), side="title"))
    writing.add(ExchangeEnd, **exchange_end(2))
    found = picture(writing.bundle())

    assert (found.requests, found.completed) == (1, 1)
    assert found.limits == {128_000: 1}


def test_held_requests_and_the_peak_are_the_hosts_and_the_brokers_words() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2))
    writing.add(ExchangeEnd, **{**exchange_end(2), "held_ms": 412})
    writing.add(HostRecorded, asserted_by="host", host=HostFacts(memory_peak_bytes=812_000_000))
    found = picture(writing.bundle())

    assert (found.held, found.peak_bytes) == (1, 812_000_000)


def test_lines_of_a_later_version_are_counted_and_passed_over() -> None:
    found = picture(closed(exchanges=1) + b'{"type":"from.the.future"}\n{torn')

    assert (found.requests, found.records) == (1, 7)


def test_nothing_is_nothing() -> None:
    assert (picture(b"").records, picture(b"").launch) == (0, None)


def test_what_we_cut_off_is_no_failure_of_the_providers() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2))
    revoked = Answered(result=ExchangeResult.REVOKED)
    writing.add(ExchangeEnd, **{**exchange_end(2), "answered": revoked})
    found = picture(writing.bundle())

    assert (found.ended, found.completed, found.last) == (2, 1, [])


def test_calls_and_sendings_are_counted_over_all_requests() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **{**exchange_start(2), "call": 2})
    lost = {**exchange_try(2, 1), "ambiguous": True}
    writing.add(ExchangeTry, **lost)
    writing.add(ExchangeEnd, **exchange_end(2, tries=2))
    writing.add(ExchangeStart, **{**exchange_start(3), "call": 2})
    writing.add(ExchangeTry, **exchange_try(3, 1))
    writing.add(ExchangeEnd, **exchange_end(3, tries=1))
    writing.add(ExchangeStart, **exchange_start(4, side="title"))
    writing.add(ExchangeEnd, **exchange_end(4))
    found = picture(writing.bundle())

    assert (found.requests, found.calls, found.sendings, found.ambiguous) == (3, 3, 5, 1)
