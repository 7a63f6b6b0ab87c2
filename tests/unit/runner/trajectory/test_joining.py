"""A turn is a response by its ids, else by an order that leaves no doubt, else by nothing."""

from collections.abc import Sequence

from fakes.conversations import answer, bundle, call, end, item
from stanchion.protocol.exchange import Answered
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.runner.trajectory.joining import join
from stanchion.runner.trajectory.turns import conversations
from stanchion.runner.trajectory.wire import read_wire


def joined(
    items: Sequence[TranscriptItem],
    answers: Sequence[Answered],
    sessions: Sequence[str | None] = (),
) -> tuple[list[tuple[int | None, str | None]], list[int]]:
    """Exchange and way of each agent's turn, and the responses that are left."""
    found = conversations(items)
    joining = join(found, read_wire(bundle(answers, sessions=sessions)).responses)
    turns = [joining.of(turn) for one in found for turn in one.agent_turns]
    return (
        [(one.response.exchange if one.response else None, one.by or one.why) for one in turns],
        list(joining.left),
    )


def said(name: str, **more: str) -> list[TranscriptItem]:
    return [item(ItemKind.TEXT, name, name, **more), end(f"{name}:end", **more)]


def called(name: str, *ids: str, **more: str) -> list[TranscriptItem]:
    return [*(call(f"{name}:{one}", one, **more) for one in ids), end(f"{name}:end", **more)]


def test_the_response_s_own_id_and_those_of_its_calls_decide() -> None:
    items = [*called("1", "b"), item(ItemKind.TEXT, "t", "x"), end("e", response_id="resp_9")]
    answers = [answer(response_id="resp_9"), answer("b", response_id="resp_1")]

    assert joined(items, answers) == ([(2, "tool_call_ids"), (1, "response_id")], [])


def test_between_two_that_are_known_order_and_count_decide() -> None:
    items = [*said("1"), *called("2", "a"), *said("3"), *said("4"), *called("5", "b"), *said("6")]
    answers = [answer(), answer("a"), answer(), answer(), answer("b"), answer()]

    found, left = joined(items, answers)
    assert [number for number, _ in found] == [1, 2, 3, 4, 5, 6]
    assert [how for _, how in found].count("order") == 4
    assert left == []


def test_what_leaves_a_doubt_is_not_joined_and_says_why() -> None:
    items = [*called("1", "a"), *said("2"), *called("3", "b")]
    answers = [answer("a"), answer(), answer(), answer("b")]

    found, left = joined(items, answers)
    assert found == [
        (1, "tool_call_ids"),
        (None, "2 responses on record could be these 1 turns"),
        (4, "tool_call_ids"),
    ]
    assert left == [2, 3], "responses that nobody saved, as far as can be told"


def test_an_id_that_two_responses_have_tells_neither() -> None:
    items = [*called("1", "call_0"), *called("2", "call_0")]
    assert joined(items, [answer("call_0"), answer("call_0")]) == (
        [(1, "order"), (2, "order")],
        [],
    )


def test_conversations_at_once_are_told_apart_by_session() -> None:
    sub = {"session": "ses_sub", "parent_session": "ses_root"}
    items = [*said("1"), *said("s1", **sub), *said("s2", **sub), *said("2")]
    answers = [answer(), answer(), answer(), answer()]

    found, left = joined(items, answers, ["ses_root", "ses_sub", "ses_sub", "ses_root"])
    assert found == [(1, "order"), (4, "order"), (2, "order"), (3, "order")]
    assert left == []
    nameless, left = joined(items, answers)
    assert {number for number, _ in nameless} == {None}
    assert left == [1, 2, 3, 4]


def test_a_header_of_another_kind_than_the_session_is_no_obstacle_for_one_conversation() -> None:
    assert joined(said("1"), [answer()], ["another"]) == ([(1, "order")], [])
