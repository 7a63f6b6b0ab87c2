import pytest

from stanchion.harness_adapters.codex.ending import judge
from stanchion.harness_adapters.codex.rollout import Failure, Payload
from stanchion.protocol.evidence import SessionState

CUT = Failure(message="Incomplete response returned, reason: max_output_tokens")


@pytest.mark.parametrize(
    ("last", "has_text", "state"),
    [
        (Payload(type="task_complete"), True, SessionState.GOOD),
        (Payload(type="task_complete"), False, SessionState.EMPTY),
        (Payload(type="task_complete", error=CUT), True, SessionState.LENGTH),
        (Payload(type="task_complete", error=Failure(message="refused")), True, SessionState.ERROR),
        (Payload(type="task_complete", error=Failure()), True, SessionState.ERROR),
        (Payload(type="turn_aborted", reason="interrupted"), True, SessionState.MID_TURN),
        (Payload(type="turn_aborted"), True, SessionState.MID_TURN),
    ],
)
def test_only_a_whole_turn_with_text_in_its_last_response_is_good(
    last: Payload, has_text: bool, state: SessionState
) -> None:
    judged, detail = judge(last, has_text=has_text)
    assert judged is state
    assert (detail is None) is (state is SessionState.GOOD)


def test_a_long_error_is_cut() -> None:
    failed = Payload(type="task_complete", error=Failure(message="x" * 5_000))
    assert judge(failed, has_text=True) == (SessionState.ERROR, "x" * 400)
