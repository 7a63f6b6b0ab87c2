"""Items become the turns that were saved, and nothing that was not."""

from fakes.conversations import ROOT, call, end, item
from stanchion.protocol.transcript import ItemKind
from stanchion.runner.trajectory.turns import conversations


def test_a_response_is_one_turn_to_its_saved_end() -> None:
    (found,) = conversations(
        [
            item(ItemKind.USER, "u", "Do it."),
            item(ItemKind.REASONING, "r", "Hm."),
            item(ItemKind.TEXT, "t", "I look."),
            call("c", "call_1", output=""),
            end("e1", "tool-calls"),
            item(ItemKind.TEXT, "t2", "Done."),
            end("e2", response_id="resp_2"),
        ]
    )

    user, first, second = found.turns
    assert (user.source, user.texts) == ("user", ["Do it."])
    assert (first.reasoning, first.texts, first.call_ids) == (["Hm."], ["I look."], ["call_1"])
    assert (first.finish, first.ended) == ("tool-calls", True)
    assert (second.texts, second.response_id) == (["Done."], "resp_2")


def test_an_item_that_comes_again_replaces_the_earlier_one_in_its_place() -> None:
    (found,) = conversations(
        [
            item(ItemKind.TEXT, "t", "I lo"),
            call("c", "call_1", output="part"),
            item(ItemKind.TEXT, "t", "I look."),
            end("e"),
            call("c", "call_1", output="whole"),
        ]
    )

    (turn,) = found.turns
    assert turn.texts == ["I look."]
    assert [tool.output for _, tool in turn.tools] == ["whole"]


def test_a_turn_without_a_saved_end_says_so_and_what_the_harness_says_is_apart() -> None:
    (found,) = conversations(
        [
            item(ItemKind.TEXT, "t", "I lo"),
            item(ItemKind.ERROR, "x", "stream cut"),
            item(ItemKind.COMPACTION, "k"),
            item(ItemKind.TEXT, "t2", "Again."),
        ]
    )

    assert [turn.source for turn in found.turns] == ["agent", "system", "system", "agent"]
    assert [turn.ended for turn in found.agent_turns] == [False, False]
    assert found.turns[2].kind is ItemKind.COMPACTION


def test_sub_agents_are_conversations_of_their_own() -> None:
    root, sub = conversations(
        [
            item(ItemKind.TEXT, "1", "I delegate."),
            item(ItemKind.TEXT, "1", "I work.", session="ses_sub", parent_session=ROOT),
        ]
    )

    assert (root.session, root.parent, sub.session, sub.parent) == (ROOT, None, "ses_sub", ROOT)
    assert sub.turns[0].texts == ["I work."]
