import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.mini_swe_agent.session import MiniSweAgentSession
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage

TASK = {"role": "user", "content": "Please solve this."}
USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 7,
    "completion_tokens_details": {"reasoning_tokens": 5},
    "prompt_tokens_details": {"cached_tokens": 0},
}


def answer(call: str = "c1", *, finish: str = "tool_calls") -> dict[str, Any]:
    said = {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "Hm.",
        "tool_calls": [{"id": call, "function": {"name": "bash", "arguments": '{"command":"ls"}'}}],
    }
    response = {"id": f"r-{call}", "choices": [{"finish_reason": finish}], "usage": USAGE}
    extra = {"response": response, "actions": [{"command": "ls"}], "timestamp": 12.5}
    return {**said, "extra": extra}


def result(call: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": "a\nb", "extra": {"returncode": 0}}


def unusable(finish: str, text: str = "", number: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"finish_reason": finish, "message": message}
    response = {"id": f"u-{number}", "choices": [choice]}
    return {"role": "user", "content": "Tool call error", "extra": {"response": response}}


def ended(status: str, **extra: object) -> dict[str, Any]:
    return {"role": "exit", "content": "", "extra": {"exit_status": status, **extra}}


def play(*messages: object, session: MiniSweAgentSession | None = None) -> list[Saved]:
    session = session or MiniSweAgentSession()
    return session.rows([(json.dumps({"messages": messages}),)])


def end_of(*messages: object) -> tuple[SessionState, int | None]:
    session = MiniSweAgentSession()
    play(*messages, session=session)
    return session.end().state, session.end().steps


def test_a_step_is_told_once_though_the_file_is_written_anew() -> None:
    session = MiniSweAgentSession()
    first = play(TASK, answer(), result(), session=session)
    assert play(TASK, answer(), result(), session=session) == []
    second = play(TASK, answer(), result(), answer("c2"), ended("Submitted"), session=session)
    steps = [item for item in (*first, *second) if isinstance(item, StepSaved)]
    assert [(step.id, step.reason, step.counts) for step in steps] == [
        ("r-c1", "tool_calls", True),
        ("r-c2", "tool_calls", True),
    ]
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)


def test_the_transcript_has_reasoning_text_call_result_and_usage() -> None:
    items = [item for item in play(TASK, answer(), result()) if isinstance(item, TranscriptItem)]
    assert [item.kind for item in items] == [
        ItemKind.USER,
        ItemKind.REASONING,
        ItemKind.TEXT,
        ItemKind.TOOL,
        ItemKind.STEP_END,
        ItemKind.TOOL,
    ]
    running, done = (item.tool for item in items if item.tool is not None)
    assert (running.status, done.status, done.output) == ("running", "completed", "a\nb")
    (end,) = (item for item in items if item.kind is ItemKind.STEP_END)
    assert end.usage == Usage(input_tokens=9, output_tokens=7, reasoning_tokens=5)
    assert (end.finish, end.at_ms) == ("tool_calls", 12_500)


def test_the_command_that_submits_is_over_with_it() -> None:
    saved = play(TASK, answer(), ended("Submitted"))
    tools = [item.tool for item in saved if isinstance(item, TranscriptItem) and item.tool]
    assert [tool.status for tool in tools] == ["running", "completed"]


@pytest.mark.parametrize(
    ("messages", "state", "steps"),
    [
        ((), SessionState.MID_TURN, None),
        ((TASK,), SessionState.MID_TURN, 0),
        ((TASK, answer(), result()), SessionState.MID_TURN, 1),
        ((TASK, answer(), ended("Submitted")), SessionState.GOOD, 1),
        ((TASK, answer(), ended("LimitsExceeded")), SessionState.ERROR, 1),
        ((TASK, ended("APIError", exception_str="503")), SessionState.ERROR, 0),
        ((TASK, unusable("length", "cut"), ended("RepeatedFormatError")), SessionState.LENGTH, 0),
        ((TASK, unusable("stop"), ended("RepeatedFormatError")), SessionState.EMPTY, 0),
        ((TASK, unusable("stop", "no"), ended("RepeatedFormatError")), SessionState.ERROR, 0),
        ((TASK, ended("RepeatedFormatError")), SessionState.ERROR, 0),
        ((TASK, unusable("length"), answer(), ended("Submitted")), SessionState.GOOD, 1),
        ((TASK, answer(), ended("")), SessionState.MID_TURN, 1),
    ],
)
def test_only_a_submission_is_a_good_end(
    messages: tuple[object, ...], state: SessionState, steps: int | None
) -> None:
    assert end_of(*messages) == (state, steps)


def test_a_response_that_could_not_be_used_is_a_step_that_does_not_count() -> None:
    saved = play(TASK, unusable("length", "I think and"))
    (step,) = (item for item in saved if isinstance(item, StepSaved))
    assert (step.id, step.reason, step.counts) == ("u-1", "length", False)
    texts = [item.text for item in saved if isinstance(item, TranscriptItem)]
    assert "I think and" in texts


def test_the_words_of_an_error_are_its_detail() -> None:
    session = MiniSweAgentSession()
    play(TASK, ended("APIError", exception_str="status 503"), session=session)
    assert session.end().detail == "APIError: status 503"


def test_a_usage_of_zeros_is_unknown() -> None:
    said = answer()
    said["extra"]["response"]["usage"] = {"prompt_tokens": 0, "completion_tokens": 0}
    ends = [item for item in play(TASK, said) if isinstance(item, TranscriptItem)]
    assert [item.usage for item in ends if item.kind is ItemKind.STEP_END] == [None]


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "extra", "tool_call_id"]),
            st.sampled_from(["user", "exit", "assistant", "tool", None, 1, [], {}, ["x"]]),
        )
    )
)
def test_whatever_stands_there_is_at_worst_unknown(messages: list[object]) -> None:
    assert end_of(*messages)[0] is not SessionState.GOOD


@pytest.mark.parametrize("row", [(), (None,), (1,), (b"{",), ("[]",), (b'{"messages": 1}',)])
def test_a_file_that_is_no_trajectory_is_unknown(row: tuple[object, ...]) -> None:
    session = MiniSweAgentSession()
    assert session.rows([row]) == []
    assert session.output(b"Saved trajectory") == []
    assert session.end().steps is None
