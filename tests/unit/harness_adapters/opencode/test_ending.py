from dataclasses import replace

import pytest

from stanchion.harness_adapters.opencode.ending import Answer, Tool, ending
from stanchion.protocol.evidence import SessionState

GOOD = Answer(session="s", role="assistant", finish="stop", texts={"t"})


def tool(status: str = "completed", error: str | None = None, name: str = "bash") -> Tool:
    return Tool(name=name, status=status, error=error)


def state(answer: Answer | None, printed: str | None = None) -> SessionState:
    return ending(answer, steps=None, printed=printed).state


def test_only_a_finished_answer_with_text_and_no_error_is_good() -> None:
    assert ending(GOOD, steps=3, printed=None).steps == 3
    assert state(GOOD) is SessionState.GOOD
    assert ending(GOOD, steps=3, printed=None).detail is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (replace(GOOD, error="APIError 400: no"), SessionState.ERROR),
        (replace(GOOD, tools={"p": tool("running")}), SessionState.MID_TURN),
        (replace(GOOD, tools={"p": tool("pending")}), SessionState.GOOD),
        (replace(GOOD, finish=None), SessionState.MID_TURN),
        (replace(GOOD, summary=True), SessionState.MID_TURN),
        (replace(GOOD, finish="length"), SessionState.LENGTH),
        (replace(GOOD, finish="tool-calls"), SessionState.MID_TURN),
        (
            replace(
                GOOD, finish="tool-calls", tools={"p": tool("error", "user rejected permission")}
            ),
            SessionState.REJECTED,
        ),
        (replace(GOOD, finish="unknown"), SessionState.ERROR),
        (replace(GOOD, finish="content-filter"), SessionState.ERROR),
        (replace(GOOD, texts=set()), SessionState.EMPTY),
    ],
)
def test_everything_else_is_named_with_a_reason(answer: Answer, expected: SessionState) -> None:
    end = ending(answer, steps=None, printed=None)
    assert end.state is expected
    assert bool(end.detail) is (expected is not SessionState.GOOD)


def test_a_rejected_permission_that_the_model_answered_to_is_no_end() -> None:
    answered = replace(GOOD, tools={"p": tool("error", "user rejected permission")})
    assert state(answered) is SessionState.GOOD


def test_without_an_answer_a_printed_error_is_all_there_is() -> None:
    assert state(None) is SessionState.UNKNOWN
    assert state(None, "UnknownError: x") is SessionState.ERROR
    assert state(GOOD, "an error it recovered from") is SessionState.GOOD


@pytest.mark.parametrize(
    ("call", "invalid"),
    [
        (tool(name="invalid"), True),
        (tool("error", "The bash tool was called with invalid arguments: no"), True),
        (tool("error", "file not found"), False),
        (tool(), False),
    ],
)
def test_a_wrong_call_is_told_from_a_tool_that_failed(call: Tool, *, invalid: bool) -> None:
    assert call.invalid is invalid
