"""Each recorded trap through one live broker over real sockets, three ways.

Harness, broker and provider are three ends: what the harness asked is what the provider captured
and what the receipt says, to the byte; what the provider sent is what the harness got and what the
receipt digests; and the record is the one that the fixture expects. In the way `bytes`, bodies of
more than SMALL bytes leave in larger pieces; the cut at every byte of the small ones is made in
memory (test_replayed), where it is one of some hundred thousand. What ends only by the passing of
minutes is in test_silence and test_in_virtual_time.
"""

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.over_sockets import Exchanged, exchange_all
from conformance.wire.recorded import answers, load, refusals
from conformance.wire.replay import WAYS
from functional.broker.live import live_broker
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, Asked, FactStatus
from stanchion.protocol.receipt import Denied, Mismatched
from stanchion.protocol.usage import Usage

pytestmark = pytest.mark.timeout(300)  # all exchanges are made for the first test

ANSWERED = [
    (path, way)
    for dialect in Dialect
    for path in answers(dialect)
    if not load(path).needs_the_clock
    for way in WAYS
]
REFUSED = [(path, "given") for dialect in Dialect for path in refusals(dialect)]
Made = Callable[[Path, str], Exchanged]


@pytest.fixture(scope="module")
def made() -> Made:
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        found = asyncio.run(exchange_all(broker, [*ANSWERED, *REFUSED]))

    def get(path: Path, way: str) -> Exchanged:
        exchanged = found[path, way]
        if isinstance(exchanged, BaseException):
            raise exchanged
        return exchanged

    return get


@pytest.mark.parametrize(
    ("path", "way"), [pytest.param(p, w, id=f"{p.parent.name}-{p.stem}-{w}") for p, w in ANSWERED]
)
def test_three_ends_agree(made: Made, path: Path, way: str) -> None:
    recorded, exchanged = load(path), made(path, way)
    dialect = Dialect(path.parent.name)
    assert_request(exchanged, dialect, recorded.expected.get("asked", {}))
    # what stalls here has said its last word: the broker ends it in good order
    assert_response(exchanged, recorded.status, whole=recorded.ends in {"whole", "stall"})
    assert_answered(exchanged.end.answered, recorded.expected, dialect)
    assert exchanged.end.retry_after_asked_ms == recorded.expected.get("retry_after_asked_ms")


@pytest.mark.parametrize(
    ("path", "way"), [pytest.param(p, w, id=f"{p.parent.name}-{p.stem}") for p, w in REFUSED]
)
def test_a_request_that_differs_never_leaves(made: Made, path: Path, way: str) -> None:
    exchanged, expected = made(path, way), load(path).expected
    assert exchanged.capture.requests == []
    assert exchanged.reply.status in {400, 403}
    assert [r.why.partition(" (")[0] for r in exchanged.of(Denied)] == [
        expected[name] for name in ("denied",) if name in expected
    ]
    assert [
        {"field": m.field, "declared": m.declared, "observed": m.observed}
        for m in (r.mismatch for r in exchanged.of(Mismatched))
    ] == [{"observed": None, **expected[name]} for name in ("mismatch",) if name in expected]


def assert_request(exchanged: Exchanged, dialect: Dialect, named: dict[str, object]) -> None:
    """What the provider captured is what the receipt says, and what the fixture names."""
    sent, capture = exchanged.start.sent, exchanged.capture
    assert sent.body_sha256 == capture.sha256
    assert sent.body_bytes == len(capture.body)
    assert sent.output_limit == capture.limit(dialect)
    assert sent.effort == capture.effort(dialect)
    assert sent.model == capture.model(dialect)
    assert sent.fields == capture.fields
    assert {name: getattr(sent, name) for name in named} == named
    assert exchanged.start.asked == sent, "nothing was declared that would make them differ"
    assert_stated(sent, ("model", "output_limit", "effort", "stream", "thinking_budget"))


def assert_response(exchanged: Exchanged, status: int, *, whole: bool) -> None:
    """What the provider sent is what came back and what the receipt digests."""
    reply, answered, sent = exchanged.reply, exchanged.end.answered, exchanged.capture.sent
    assert (reply.status, answered.status) == (status, status)
    assert reply.body == sent
    assert answered.body_sha256 == hashlib.sha256(sent).hexdigest()
    assert answered.body_bytes == len(sent)
    assert reply.whole == whole
    assert_stated(answered, answered.facts)
    assert {f"usage.{name}" for name in Usage.__struct_fields__} <= answered.facts.keys()


def assert_stated(record: Asked | Answered, names: Iterable[str]) -> None:
    """Each value has a status, and is null exactly where that is not `observed`."""
    for name in names:
        value: object = record
        for part in name.split("."):
            value = None if value is None else getattr(value, part)
        assert (record.facts[name] is FactStatus.OBSERVED) == (value is not None), name
