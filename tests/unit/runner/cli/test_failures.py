"""Every failure is one sentence and one exit code."""

import json
import subprocess
import sys

import click
import pytest

from stanchion.broker.client import BrokerUnreachableError
from stanchion.images.errors import ImagesError
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import refuse
from stanchion.runner.cli.failures import FailedCommand, failure_of, show_bug, translated
from stanchion.runner.launching.attempt_run import AttemptError
from stanchion.runner.launching.brokers import BrokerStartError


def a_refusal(name: str) -> Exception:
    return refuse(name, field="--x", value="1", rule="must not", remedy="Do not")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (a_refusal("limit_undeclared"), ExitCode.REFUSED),
        (a_refusal("effort_undeclared"), ExitCode.REFUSED),
        (a_refusal("effort_unknown"), ExitCode.USAGE),
        (a_refusal("account_missing"), ExitCode.USAGE),
        (BrokerUnreachableError("gone"), ExitCode.BROKER_UNREACHABLE),
        (BrokerStartError("bad file", usage=True), ExitCode.USAGE),
        (BrokerStartError("no", usage=False), ExitCode.BROKER_UNREACHABLE),
        (ImagesError("no npm"), ExitCode.FAILED),
        (PermissionError(13, "Permission denied", "/out"), ExitCode.FAILED),
        (AttemptError("no result"), ExitCode.FAILED),
    ],
)
def test_a_failure_has_its_code(error: Exception, code: ExitCode) -> None:
    with pytest.raises(FailedCommand) as failed, translated(as_json=False):
        raise error
    assert failed.value.exit_code == code


def test_a_refusal_is_the_one_document_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FailedCommand) as failed, translated(as_json=True):
        raise a_refusal("limit_undeclared")
    failed.value.show()
    printed = capsys.readouterr()

    assert json.loads(printed.out)["error"] == {
        "id": "limit_undeclared",
        "field": "--x",
        "value": "1",
        "rule": "must not",
        "remedy": "Do not",
        "next": "stanchion limits ACCOUNT/MODEL",
    }
    assert printed.err.splitlines() == [
        "error: --x = '1': must not. Do not",
        "next:  stanchion limits ACCOUNT/MODEL",
    ]


@pytest.mark.parametrize(
    ("error", "name", "command"),
    [
        (click.Abort(), "interrupted", None),
        (ImagesError("no npm", fix="apt install npm"), "pieces", "apt install npm"),
        (BrokerStartError("bad", usage=True), "config_invalid", "stanchion broker check"),
        (PermissionError(13, "Permission denied", "/out"), "file_access", "stanchion doctor"),
        (click.UsageError("two\nlines"), "usage", "stanchion --help"),
        (click.ClickException("it failed"), "failed", "stanchion doctor"),
    ],
)
def test_everything_has_a_row_and_a_next_command(
    error: Exception, name: str, command: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = failure_of(error, as_json=True)
    assert failed is not None
    failed.show()
    printed = capsys.readouterr()
    document = json.loads(printed.out)["error"]
    assert (document["id"], document["next"]) == (name, command)
    assert len(printed.err.splitlines()) == (1 if command is None else 2)


def test_a_bug_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError), translated(as_json=False):
        raise ZeroDivisionError


def test_showing_a_mistyped_option_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from stanchion.runner.cli.root import root\n"
        "try:\n    root(['run', '--efort', 'max'])\n"
        "except SystemExit as ended:\n    assert ended.code == 2\n"
        "print([name for name in ('aiohttp', 'psutil', 'rich') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "[]\n"


def test_a_bug_leaves_one_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    show_bug(as_json=False)
    assert capsys.readouterr().out == ""
    show_bug(as_json=True)
    assert json.loads(capsys.readouterr().out)["error"]["id"] == "internal"
