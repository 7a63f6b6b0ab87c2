import pytest

from stanchion.rehearsal.faults import kinds
from stanchion.rehearsal.faults.answers import alter, echoed
from stanchion.rehearsal.turns import Ending
from unit.rehearsal.dialects.test_anthropic_messages import answer

SAID = answer(text="hi", hold_s=1.0)


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        (kinds.SlowHeadersFault(wait_s=0.5), {"hold_s": 1.5}),
        (kinds.MissingUsageFault(), {"usage": None}),
        (kinds.LengthFault(), {"finish": "length"}),
        (kinds.LengthFault(in_call=True), {"finish": "length", "cut_call": True}),
        (kinds.UnknownFinishFault(), {"finish": "rehearsed_unknown"}),
        (kinds.NoFinishFault(), {"ending": Ending.NOTHING}),
        (kinds.NoFinishFault(done=True), {"ending": Ending.MARKER}),
        (kinds.KeyEchoFault(where="text"), {"echo": (" Your key is ", "s3cret")}),
        (
            kinds.KeyEchoFault(where="text", form="base64"),
            {"echo": (" Your key is ", "czNjcmV0")},
        ),
        (
            kinds.KeyEchoFault(where="text", form="deltas"),
            {"echo": (" Your key is ", "s3c", "ret")},
        ),
        (kinds.KeyEchoFault(where="body"), {}),
        (kinds.CutFault(), {}),
        (kinds.StatusFault(status=500), {}),
    ],
)
def test_a_fault_changes_what_it_is_about_and_nothing_else(
    fault: kinds.Fault, changes: dict[str, object]
) -> None:
    assert alter(fault, SAID, "s3cret") == answer(**{"text": "hi", "hold_s": 1.0, **changes})


def test_a_key_is_echoed_as_it_is_or_in_base64() -> None:
    assert echoed(kinds.KeyEchoFault(form="split"), "s3cret") == "s3cret"
    assert echoed(kinds.KeyEchoFault(form="base64"), "s3cret") == "czNjcmV0"
