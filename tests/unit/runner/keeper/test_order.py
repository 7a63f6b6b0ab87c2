"""The words between a command and its keeper."""

import pytest
from tests.fakes.samples import sample

from stanchion.protocol.codec import CodecError, decode, encode
from stanchion.protocol.refusal import Refusal
from stanchion.runner.keeper.order import (
    BrokerAway,
    Ended,
    Failed,
    NotOpened,
    Opened,
    Order,
    Report,
)

REPORTS = (
    Opened(id="7f3a90c41b22.1", launch_sha256="0" * 64),
    NotOpened(refusal=sample(Refusal)),
    BrokerAway(why="gone"),
    Failed(why="disk full"),
    Ended(result="/out/result.json"),
)


def test_an_order_arrives_as_it_was_sent() -> None:
    order = sample(Order)

    assert decode(encode(order), Order) == order


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_told_by_its_tag(report: Report) -> None:
    assert decode(encode(report), Report) == report  # type: ignore[arg-type]


def test_an_unknown_field_of_an_order_is_refused() -> None:
    with pytest.raises(CodecError, match="surprise"):
        decode(encode(sample(Order))[:-1] + b',"surprise":1}', Order)
