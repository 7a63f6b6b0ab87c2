"""The whole document: valid by the public models, joined with receipts, checked both ways."""

from typing import Any

from fakes.atif_models import validated
from fakes.conversations import ROOT, answer, bundle, call, end, item
from fakes.results import a_result
from stanchion.protocol.exchange import Answered
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage
from stanchion.runner.trajectory.document import trajectory
from stanchion.runner.trajectory.wire import read_wire

SUB = {"session": "call_sub", "parent_session": ROOT}
ITEMS = [
    item(ItemKind.USER, "u", "Do it."),
    item(ItemKind.REASONING, "r", "Hm."),
    call("c1", "call_1", output="a\x00b"),
    call("c2", "call_sub"),
    end("e1", "tool-calls"),
    item(ItemKind.TEXT, "s", "Sub-agent.", **SUB),
    end("es", **SUB),
    item(ItemKind.COMPACTION, "k"),
    item(ItemKind.TEXT, "t", "Done."),
    end("e2"),
]
ANSWERS = [answer("call_1", "call_sub"), answer(), answer()]
SESSIONS = [ROOT, "call_sub", ROOT]


def made(items: list[TranscriptItem], *answers: Answered, **more: Any) -> dict[str, Any]:
    wire = read_wire(bundle(answers, **more))
    return validated(trajectory(a_result(), items, wire))


def own(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["extra"]["stanchion"]
    return found


def test_each_step_has_its_words_from_the_harness_and_its_figures_from_the_receipts() -> None:
    document = made(ITEMS, *ANSWERS, sessions=SESSIONS)

    user, first, compaction, last = document["steps"]
    assert (user["source"], user["message"]) == ("user", "Do it.")
    assert (first["model_name"], first["reasoning_effort"]) == ("m-1", "max")
    assert first["reasoning_content"] == "Hm."
    assert [one["tool_call_id"] for one in first["tool_calls"]] == ["call_1", "call_sub"]
    assert first["tool_calls"][0]["arguments"] == {"command": "ls"}
    assert first["observation"]["results"][0]["content"] == "a\x00b"
    assert first["metrics"]["prompt_tokens"] == 10
    assert first["metrics"]["extra"]["stanchion"] == {"asserted_by": "broker"}
    assert own(first)["joined_by"] == "tool_call_ids"
    assert compaction["source"] == "system"
    assert (own(last)["exchange"], own(last)["joined_by"]) == (3, "order")
    assert document["final_metrics"]["total_completion_tokens"] == 15
    assert document["final_metrics"]["total_cost_usd"] is None


def test_a_sub_agent_is_embedded_and_named_by_the_call_that_began_it() -> None:
    document = made(ITEMS, *ANSWERS, sessions=SESSIONS)

    (sub,) = document["subagent_trajectories"]
    assert (sub["trajectory_id"], sub["steps"][0]["message"]) == ("call_sub", "Sub-agent.")
    assert own(sub["steps"][0])["exchange"] == 2
    result = document["steps"][1]["observation"]["results"][1]
    assert result["subagent_trajectory_ref"] == [
        {"trajectory_id": "call_sub", "session_id": "call_sub"}
    ]


def test_calls_and_responses_are_checked_both_ways() -> None:
    items = [call("1", "call_1"), call("2", "made-up"), end("e")]
    found = own(made(items, answer("call_1"), answer("call_2")))

    assert found["calls"]["sent_by_nobody"] == ["made-up"]
    assert found["calls"]["saved_by_nobody"] == ["call_2"]
    assert (found["turns_joined"], found["responses_nobody_saved"]) == (1, [2])
    good = own(made(ITEMS, *ANSWERS, sessions=SESSIONS))
    assert (good["calls"]["nobody_sent"], good["calls"]["nobody_saved"]) == (0, 0)
    assert (good["turns"], good["turns_joined"], good["responses_nobody_saved"]) == (3, 3, [])


def test_what_is_unknown_is_null_and_never_zero() -> None:
    silent = answer("call_1", usage=None)
    document = made([call("1", "call_1"), end("e")], silent, answer())

    assert document["steps"][0]["metrics"] == {
        "prompt_tokens": None, "completion_tokens": None, "cached_tokens": None,
        "extra": {"reasoning_tokens": None, "stanchion": {"asserted_by": "broker"}},
    }  # fmt: skip
    assert document["final_metrics"]["total_prompt_tokens"] is None


def test_without_receipts_the_conversation_stands_alone_and_says_whose_word_it_is() -> None:
    items = [call("1", None), end("e", usage=Usage(input_tokens=3))]
    document = validated(trajectory(a_result(), items, None))

    (step,) = document["steps"]  # type: ignore[misc]  # a list, as the models have checked
    assert step["metrics"]["extra"]["stanchion"] == {"asserted_by": "sandbox"}
    assert own(step)["why"] == "there are no receipts"
    assert step["tool_calls"][0]["tool_call_id"] == "1", "a call without an id goes by its item"
    assert own(document)["calls"]["why"] == "there are no receipts"
    assert own(document)["responses"] is None


def test_a_conversation_that_nobody_saved_is_one_step_that_says_so() -> None:
    document = made([], answer("call_1"))

    (step,) = document["steps"]
    assert (step["source"], "nothing of a conversation" in step["message"]) == ("system", True)
    assert own(document)["calls"]["nobody_saved"] is None, "some harnesses save none at all"
    assert own(document)["responses_nobody_saved"] == [1]
