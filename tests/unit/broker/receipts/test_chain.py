import hashlib

import msgspec
import pytest

from fakes.receipts import (
    KEY,
    RUN,
    Writing,
    asked,
    ending,
    exchange_end,
    exchange_start,
    exchange_try,
    honest,
    run_open,
)
from stanchion.broker.receipts.chain import Chain, ChainError, build_header, signed_bytes
from stanchion.broker.receipts.ed25519 import holds
from stanchion.protocol.codec import CodecError, encode
from stanchion.protocol.receipt import Denied, ExchangeEnd, ExchangeStart, ExchangeTry, RunOpen


def test_the_header_is_signed_with_an_empty_signature_in_place() -> None:
    header = build_header(run=RUN, attempt=2, holds_bodies=True, signer=KEY)

    assert (header.format, header.version, header.attempt) == ("stanchion-receipts", 1, 2)
    assert b'"signature":""' in signed_bytes(header)
    assert holds(
        public_key=KEY.public_key, message=signed_bytes(header), signature=header.signature
    )


def test_each_record_carries_the_digest_of_the_line_before_it() -> None:
    chain = Chain(b"the header's line")

    record, line = chain.append(RunOpen, at_ms=5, **run_open())
    following, _ = chain.append(Denied, at_ms=6, why="route")

    assert record.prev == hashlib.sha256(b"the header's line").hexdigest()
    assert following.prev == hashlib.sha256(line).hexdigest()
    assert (record.seq, following.seq, chain.records) == (1, 2, 2)


def test_the_close_is_signed_and_counts_what_came_before() -> None:
    writing = honest(exchanges=2)

    record, line = writing.chain.close(signer=KEY, at_ms=9, exchanges=2, **ending())

    assert (record.records, record.exchanges, writing.chain.closed) == (6, 2, True)
    assert holds(
        public_key=KEY.public_key, message=signed_bytes(record), signature=record.signature
    )
    assert writing.chain.head == hashlib.sha256(line).hexdigest()


def test_exchanges_without_an_end_are_known() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(7)).add(ExchangeStart, **exchange_start(4))

    assert writing.chain.unended == (4, 7)
    assert writing.chain.exchanges == 3


def test_the_terms_come_first_and_once() -> None:
    with pytest.raises(ChainError, match="first record"):
        Writing().add(Denied, why="route")
    with pytest.raises(ChainError, match="first record"):
        honest().add(RunOpen, **run_open())


def test_an_exchange_starts_once_and_ends_once() -> None:
    writing = honest(exchanges=1)

    with pytest.raises(ChainError, match="exchange 1 starts twice"):
        writing.add(ExchangeStart, **exchange_start(1))
    with pytest.raises(ChainError, match="exchange 1 ends twice"):
        writing.add(ExchangeEnd, **exchange_end(1))
    with pytest.raises(ChainError, match="exchange 2 ends without a start"):
        writing.add(ExchangeEnd, **exchange_end(2))


def test_tries_are_counted_between_start_and_end() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2))
    writing.add(ExchangeTry, **exchange_try(2, 1)).add(ExchangeTry, **exchange_try(2, 2))

    with pytest.raises(ChainError, match="another try than number 3 next"):
        writing.add(ExchangeTry, **exchange_try(2, 2))
    with pytest.raises(ChainError, match="2 recorded tries or one more"):
        writing.add(ExchangeEnd, **exchange_end(2, tries=1))
    writing.add(ExchangeEnd, **exchange_end(2, tries=3))
    with pytest.raises(ChainError, match="exchange 2 is tried outside"):
        writing.add(ExchangeTry, **exchange_try(2, 3))
    with pytest.raises(ChainError, match="exchange 3 is tried outside"):
        writing.add(ExchangeTry, **exchange_try(3, 1))


def test_a_request_that_was_never_sent_ends_without_a_try() -> None:
    writing = honest(exchanges=0).add(ExchangeStart, **exchange_start(1))

    assert writing.add(ExchangeEnd, **exchange_end(1, tries=0)).chain.unended == ()


def test_nothing_follows_the_close() -> None:
    writing = honest()
    writing.close(**ending())

    with pytest.raises(ChainError, match="follows the close"):
        writing.add(Denied, why="route")


@pytest.mark.parametrize("exchanges", [0, 2, 4])
def test_a_close_with_another_count_is_refused(exchanges: int) -> None:
    with pytest.raises(ChainError, match="does not count 8 records and 3 exchanges"):
        honest(exchanges=3).close(exchanges=exchanges, **ending())


def test_a_refused_record_leaves_the_chain_as_it_was() -> None:
    writing = honest(exchanges=1)
    before = (writing.chain.head, writing.chain.records)

    with pytest.raises(ChainError):
        writing.add(ExchangeStart, **exchange_start(1))
    with pytest.raises(CodecError):
        writing.add(Denied, why=3)
    with pytest.raises(TypeError):
        writing.add(Denied, because="route")

    assert (writing.chain.head, writing.chain.records) == before


def test_a_record_that_would_not_read_back_is_refused() -> None:
    writing = honest(exchanges=0)
    fields = exchange_start(1, sent=msgspec.structs.replace(asked(), body_bytes=1.5))

    with pytest.raises(CodecError, match="body_bytes"):
        writing.add(ExchangeStart, **fields)


def test_a_record_that_reads_back_as_another_is_refused() -> None:
    writing = honest(exchanges=0)
    fields = exchange_start(1, sent=msgspec.structs.replace(asked(), fields=["model"]))

    with pytest.raises(ChainError, match="does not read back"):
        writing.add(ExchangeStart, **fields)


def test_a_record_in_another_place_is_not_admitted() -> None:
    chain = Chain(b"a header")
    record, line = Chain(b"a header").append(RunOpen, at_ms=5, **run_open())

    with pytest.raises(ChainError, match="does not follow"):
        Chain(b"another header").admit(record, line)
    later = msgspec.structs.replace(record, seq=3)
    with pytest.raises(ChainError, match="record 1 says it is record 3"):
        chain.admit(later, encode(later))
