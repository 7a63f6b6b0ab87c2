import pytest

from stanchion.rehearsal.faults.kinds import (
    CutFault,
    Fault,
    KeyEchoFault,
    RedirectFault,
    StatusFault,
)
from stanchion.rehearsal.faults.rules import problem


@pytest.mark.parametrize(
    ("fault", "part"),
    [
        (StatusFault(status=429, retry_after="a\nb"), ".retry_after is no header value"),
        (StatusFault(status=429, headers={"a b": "c"}), ".headers has 'a b', which makes no"),
        (StatusFault(status=429, headers={"a": "é"}), ".headers has 'a', which makes no"),
        (StatusFault(status=429, headers={"Content-Length": "1"}), "the body itself decides"),
        (RedirectFault(location="/\r\nx: y"), ".location is no header value"),
        (KeyEchoFault(where="header", form="split"), ".form is 'split', but a header"),
        (KeyEchoFault(where="header", form="deltas"), ".form is 'deltas', but a header"),
        (KeyEchoFault(where="body", form="deltas"), '.form is "deltas", but an error body'),
    ],
)
def test_what_http_or_the_place_forbids_is_named(fault: Fault, part: str) -> None:
    found = problem(fault)
    assert found is not None
    assert part in found


@pytest.mark.parametrize(
    "fault",
    [
        CutFault(),
        StatusFault(status=429, retry_after=2, headers={"x-should-retry": "true"}),
        StatusFault(status=429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        RedirectFault(location="http://127.0.0.1:9/"),
        KeyEchoFault(where="header", form="base64"),
        KeyEchoFault(where="body", form="split"),
        KeyEchoFault(where="text", form="deltas"),
    ],
)
def test_what_can_be_sent_is_accepted(fault: Fault) -> None:
    assert problem(fault) is None
