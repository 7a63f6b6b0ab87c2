"""Each recorded trap through a live broker over real sockets, three ways.

Harness, broker and provider are three ends: what the harness asked is what the provider captured
and what the receipt says, to the byte; what the provider sent is what the harness got and what the
receipt digests; and the record is the one that the fixture expects. In the way `bytes`, bodies of
more than SMALL bytes leave in larger pieces; the cut at every byte of the small ones is made in
memory (test_replayed), where it is one of some hundred thousand. Not here either: what ends only
by the passing of minutes.
"""

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.over_sockets import DOORS, Exchanged, Key, exchange_all
from conformance.wire.recorded import load, paths
from conformance.wire.replay import WAYS
from functional.broker.live import live_broker
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, Asked, FactStatus
from stanchion.protocol.usage import Usage

pytestmark = pytest.mark.timeout(300)  # all exchanges are made for the first test

PATHS = [path for dialect in DOORS for path in paths(dialect) if not load(path).needs_the_clock]
KEYS = [(path, way) for path in PATHS for way in WAYS]
Made = Callable[[Path, str], Exchanged]


@pytest.fixture(scope="module")
def made() -> Made:
    found: dict[Key, Exchanged | BaseException] = {}
    for dialect in DOORS:  # a broker each: one has at most 500 open attempts
        keys = [(path, way) for path, way in KEYS if path.parent.name == dialect]
        with (
            tempfile.TemporaryDirectory(prefix="st") as folder,
            live_broker(Path(folder)) as broker,
        ):
            found |= asyncio.run(exchange_all(broker, keys))

    def get(path: Path, way: str) -> Exchanged:
        exchanged = found[path, way]
        if isinstance(exchanged, BaseException):
            raise exchanged
        return exchanged

    return get


@pytest.mark.parametrize(
    ("path", "way"), [pytest.param(p, w, id=f"{p.parent.name}-{p.stem}-{w}") for p, w in KEYS]
)
def test_three_ends_agree(made: Made, path: Path, way: str) -> None:
    recorded, exchanged = load(path), made(path, way)
    dialect = Dialect(path.parent.name)
    assert_request(exchanged, dialect)
    # what stalls here has said its last word: the broker ends it in good order
    assert_response(exchanged, recorded.status, whole=recorded.ends in {"whole", "stall"})
    assert_answered(exchanged.end.answered, recorded.expected, dialect)
    assert exchanged.end.retry_after_asked_ms == recorded.expected.get("retry_after_asked_ms")


def assert_request(exchanged: Exchanged, dialect: Dialect) -> None:
    """What the provider captured is what the receipt says was sent, and says of what was not."""
    sent, capture = exchanged.start.sent, exchanged.capture
    assert sent.body_sha256 == capture.sha256
    assert sent.body_bytes == len(capture.body)
    assert sent.output_limit == capture.limit(dialect)
    assert sent.effort == capture.effort(dialect)
    assert sent.model == capture.model(dialect)
    assert sent.fields == capture.fields
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
