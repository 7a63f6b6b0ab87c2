"""Reports of a shim."""

import msgspec
import pytest

from stanchion.supervisor.isolation import reports
from stanchion.supervisor.isolation.shim_wire import encode_report


@pytest.mark.parametrize(
    ("line", "report"),
    [
        (encode_report("born", pid=7), reports.Born(pid=7)),
        (
            encode_report("checked", checks={"a": True}, harness=2),
            reports.Checked(checks={"a": True}, harness=2),
        ),
        (encode_report("failed", call="mount", errno=1), reports.Failed(call="mount", errno=1)),
        (encode_report("started"), reports.Started()),
        (
            encode_report("exec_failed", step="executing x", errno=2),
            reports.ExecFailed(step="executing x", errno=2),
        ),
        (encode_report("ended", exit_code=0), reports.Ended(exit_code=0)),
        (encode_report("ended", signal=9), reports.Ended(signal=9)),
    ],
)
def test_what_the_shim_writes_is_what_is_read(line: bytes, report: reports.Report) -> None:
    assert reports.decode(line) == report


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"garbage", b'{"type":"other"}', b'{"type":"born"}', b'{"type":"born","pid":"7"}',
     b'{"type":"ended","exit_code":0,"also":1}'],
)  # fmt: skip
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        reports.decode(line)
