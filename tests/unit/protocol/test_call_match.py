"""Tool calls on the wire against those of the conversation, both ways."""

import pytest

from stanchion.protocol.call_match import MOST_NAMED, SentCalls, match_calls, not_compared
from stanchion.protocol.exchange import ID_LENGTH


def sent(*ids: str, calls: int | None = -1, exchange: int = 1) -> SentCalls:
    return SentCalls(exchange=exchange, calls=len(ids) if calls == -1 else calls, ids=ids)


def test_calls_with_ids_on_both_sides_are_compared_one_by_one() -> None:
    found = match_calls([sent("a", "b"), sent("c")], ["a", "c", "made-up"])

    assert (found.by_id, found.sent, found.saved) == (True, 3, 3)
    assert (found.nobody_sent, found.sent_by_nobody) == (1, ("made-up",))
    assert (found.nobody_saved, found.saved_by_nobody) == (1, ("b",))


@pytest.mark.parametrize(
    ("wire", "saved", "nobody_sent", "nobody_saved"),
    [
        ([sent("a")], ["a"], 0, 0),
        ([], [], 0, 0),
        ([], ["a", "b"], 2, 0),
        ([sent("a", "b")], [], 0, 2),
        # One server names its calls anew in each response.
        ([sent("call_0"), sent("call_0")], ["call_0", "call_0"], 0, 0),
        ([sent("call_0"), sent("call_0")], ["call_0"], 0, 1),
        # A harness with ids of its own: only the number can be compared.
        ([sent("a"), sent("b")], ["x", "y"], 0, 0),
        ([sent("a"), sent("b")], ["x", "y", "z"], 1, 0),
        ([sent("a"), sent("b")], ["x"], 0, 1),
        # A provider without ids.
        ([sent(calls=2)], ["x", "y"], 0, 0),
        ([sent(calls=1)], ["x", "y"], 1, 0),
        # A harness without ids, or one that reads its actions from text.
        ([], [None, None], 0, 0),
        ([sent("a", "b")], [None], 0, 1),
        ([sent("a")], ["a", None], 0, 0),
        # Only so much of an id is on record.
        ([sent("l" * ID_LENGTH)], ["l" * (ID_LENGTH + 5)], 0, 0),
    ],
)
def test_what_cannot_be_told_apart_is_only_counted(
    wire: list[SentCalls], saved: list[str | None], nobody_sent: int, nobody_saved: int
) -> None:
    found = match_calls(wire, saved)
    assert (found.nobody_sent, found.nobody_saved) == (nobody_sent, nobody_saved)


def test_what_nobody_could_read_is_unknown_and_not_zero() -> None:
    found = match_calls([sent("a"), sent(calls=None)], ["a"])

    assert found == not_compared("a response could not be read")
    assert (found.nobody_sent, found.nobody_saved) == (None, None)


def test_an_answer_stays_short() -> None:
    found = match_calls([], [str(number) for number in range(100)])
    assert (found.nobody_sent, len(found.sent_by_nobody)) == (100, MOST_NAMED)
