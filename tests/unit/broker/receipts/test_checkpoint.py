import hashlib

import msgspec
import pytest

from fakes.receipts import KEY, OTHER_KEY
from stanchion.broker.receipts.checkpoint import build_checkpoint, checkpoint_holds

HEADS = [("b.1", 2, b"two"), ("a.1", 0, b"header")]


def test_it_is_signed_over_all_heads_in_order() -> None:
    checkpoint = build_checkpoint(HEADS, at_ms=5, signer=KEY)
    digests = [hashlib.sha256(line).hexdigest() for line in (b"header", b"two")]
    text = f"a.1 0 {digests[0]}\nb.1 2 {digests[1]}\n"
    assert checkpoint.heads_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (checkpoint.runs, checkpoint.records, checkpoint.at_ms) == (2, 2, 5)
    assert checkpoint_holds(checkpoint)
    assert build_checkpoint(reversed(HEADS), at_ms=5, signer=KEY) == checkpoint


def test_another_last_line_is_another_checkpoint() -> None:
    first = build_checkpoint(HEADS, at_ms=5, signer=KEY)
    second = build_checkpoint([*HEADS[1:], ("b.1", 2, b"other")], at_ms=5, signer=KEY)
    assert first.heads_sha256 != second.heads_sha256


@pytest.mark.parametrize(
    "change", [{"runs": 1}, {"at_ms": 6}, {"public_key": OTHER_KEY.public_key}]
)
def test_a_changed_checkpoint_does_not_hold(change: dict[str, object]) -> None:
    checkpoint = build_checkpoint(HEADS, at_ms=5, signer=KEY)
    assert not checkpoint_holds(msgspec.structs.replace(checkpoint, **change))


def test_a_broker_without_receipts_has_one_too() -> None:
    assert checkpoint_holds(build_checkpoint([], at_ms=5, signer=KEY))
