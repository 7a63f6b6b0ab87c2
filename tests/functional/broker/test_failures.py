"""The broker's commands without `stanchion` around them fail in the same words and codes."""

import pytest

from stanchion.broker.client import BrokerUnreachableError
from stanchion.broker.failures import BrokerFailedError, run_alone
from stanchion.protocol.refusal import refuse

REFUSED = refuse("config_invalid", field="version", value=2, rule="it is 1", remedy="Mend it")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (REFUSED, 2, "error: version = '2': it is 1. Mend it\n"),
        (BrokerUnreachableError("no broker"), 5, "error: no broker\n"),
        (None, 0, ""),
    ],
)
def test_a_failure_is_one_line_and_a_code(
    error: Exception | None, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        if error is not None:
            raise error

    with pytest.raises(SystemExit) as ended:
        run_alone(command)
    assert ended.value.code == code
    assert capsys.readouterr().err == said


def test_a_failed_action_says_its_row_and_its_next_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = BrokerFailedError("it did not end", next_command="stanchion broker status")
    failed.show()
    assert capsys.readouterr().err == "error: it did not end\n"
    assert (failed.exit_code, failed.error_id) == (1, "broker_failed")
