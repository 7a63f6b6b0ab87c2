import pytest

from stanchion.rehearsal.faults.kinds import LengthFault
from stanchion.rehearsal.script import Defaults, Script, ToolCall, Turn, Usage
from stanchion.rehearsal.turns import ALL_DONE, Answer, Asked, Refusal, choose

SCRIPT = Script(
    version=1,
    defaults=Defaults(gap_ms=3),
    turn=(
        Turn(reasoning="first", tool=(ToolCall(name="bash", arguments={"command": "ls"}),)),
        Turn(text="second", gap_ms=0, hold_s=1.5, finish="length", usage=False),
        Turn(reasoning="third", pause="forever"),
    ),
)


def asked(*, turns_taken: int = 0, tools: tuple[str, ...] = ("bash", "read")) -> Asked:
    return Asked(
        model="m",
        stream=True,
        include_usage=True,
        tools=tools,
        turns_taken=turns_taken,
        body_bytes=401,
        conversation="c",
    )


def answer(**request: object) -> Answer:
    chosen = choose(SCRIPT, asked(**request))  # type: ignore[arg-type]
    assert isinstance(chosen, Answer)
    return chosen


def test_the_position_in_the_conversation_picks_the_turn() -> None:
    assert [answer(turns_taken=taken).turn for taken in range(3)] == [0, 1, 2]
    assert answer(turns_taken=0).reasoning == "first"
    assert answer(turns_taken=2).paused


def test_the_same_request_gets_the_same_answer_again() -> None:
    assert answer(turns_taken=1) == answer(turns_taken=1)


def test_a_turn_overrides_the_defaults() -> None:
    second = answer(turns_taken=1)
    assert (second.gap_ms, second.hold_s, second.finish) == (0, 1.5, "length")
    assert answer(turns_taken=0).gap_ms == 3


def test_a_turn_brings_its_fault_and_a_side_request_none() -> None:
    script = Script(version=1, turn=(Turn(text="a", fault=LengthFault(times=2)),))
    chosen, side = choose(script, asked()), choose(script, asked(tools=()))
    assert isinstance(chosen, Answer)
    assert isinstance(side, Answer)
    assert (chosen.fault, side.fault) == (LengthFault(times=2), None)


@pytest.mark.parametrize("taken", [3, 4, 100])
def test_past_its_end_a_script_says_so(taken: int) -> None:
    closing = answer(turns_taken=taken)
    assert (closing.turn, closing.text, closing.calls) == (taken, ALL_DONE.text, ())
    assert closing.text == "All turns of the script are done."


def test_a_request_without_tools_takes_no_turn() -> None:
    side = answer(tools=(), turns_taken=0)
    assert (side.turn, side.calls, side.reasoning) == (None, (), "")
    assert side.text


@pytest.mark.parametrize(
    ("offered", "name"), [(("Bash",), "Bash"), (("BASH", "bash"), "bash"), (("bash",), "bash")]
)
def test_a_tool_is_called_as_the_harness_spells_it(offered: tuple[str, ...], name: str) -> None:
    assert answer(tools=offered).calls == (ToolCall(name=name, arguments={"command": "ls"}),)


def test_a_tool_that_is_not_offered_is_an_error_that_names_the_offered_ones() -> None:
    refused = choose(SCRIPT, asked(tools=("read", "edit")))
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.code, refused.turn) == (400, "tool_not_offered", 0)
    assert "turn 0" in refused.message
    assert "'bash'" in refused.message
    assert "name one of: read, edit" in refused.message


def test_a_call_for_an_only_tool_is_left_out_beside_others_and_from_the_count() -> None:
    call = ToolCall(name="bash", arguments={"command": "echo done"}, only_tool=True)
    script = Script(version=1, turn=(Turn(text="done", tool=(call,)),))
    alone, beside = (choose(script, asked(tools=tools)) for tools in (("bash",), ("bash", "read")))
    assert isinstance(alone, Answer)
    assert isinstance(beside, Answer)
    assert [made.name for made in alone.calls] == ["bash"]
    assert beside.calls == ()
    assert isinstance(alone.usage, Usage)
    assert isinstance(beside.usage, Usage)
    assert alone.usage.completion_tokens > beside.usage.completion_tokens == 1


def test_usage_is_the_scripts_own_or_absent_or_computed_from_lengths() -> None:
    counts = Usage(prompt_tokens=5, completion_tokens=6)
    script = Script(version=1, turn=(Turn(text="abcde", reasoning="abcd", usage=counts),))
    chosen = choose(script, asked())
    assert isinstance(chosen, Answer)
    assert chosen.usage == counts
    assert answer(turns_taken=1).usage is None
    computed = choose(Script(version=1, turn=(Turn(text="abcde", reasoning="abcd"),)), asked())
    assert isinstance(computed, Answer)
    assert computed.usage == Usage(prompt_tokens=101, completion_tokens=3, reasoning_tokens=1)


def test_computed_usage_counts_the_arguments_of_tools() -> None:
    small, large = (
        choose(
            Script(version=1, turn=(Turn(tool=(ToolCall(name="bash", arguments={"a": text}),)),)),
            asked(),
        )
        for text in ("x", "x" * 400)
    )
    assert isinstance(small, Answer)
    assert isinstance(large, Answer)
    assert small.usage is not None
    assert large.usage is not None
    assert large.usage.completion_tokens - small.usage.completion_tokens in {99, 100}
