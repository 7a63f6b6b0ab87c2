"""A line with a second spelling, or with more than is known, is refused."""

import msgspec
import pytest

from stanchion.broker.receipts.exact import FaultError, exact


class Inner(msgspec.Struct, frozen=True):
    a: int = 0


class Thing(msgspec.Struct, frozen=True):
    inner: Inner
    items: tuple[Inner, ...] = ()


DECODER = msgspec.json.Decoder(Thing)


def test_the_message_and_its_plain_json_come_back() -> None:
    message, raw = exact(b'{"inner":{"a":1}}', DECODER, "thing")

    assert (message.inner.a, raw) == (1, {"inner": {"a": 1}})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not a thing"),
        (b'{"inner": {"a":1}}', "not in canonical form"),
        (b'{"inner":{"a":1,"b":2}}', "has inner.b,"),
        (b'{"inner":{"a":1},"items":[{"a":1},{"c":1}]}', "has items.1.c,"),
        (b'{"inner":{"a":1},"other":1}', "has other,"),
    ],
)
def test_what_nobody_would_check_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(FaultError, match=said):
        exact(line, DECODER, "thing")
