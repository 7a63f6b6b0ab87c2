from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from stanchion.rehearsal.commands import rehearse


def refusal(*arguments: str) -> Result:
    result = CliRunner().invoke(rehearse, arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result


def test_it_is_a_click_command_under_the_name_the_main_command_looks_for() -> None:
    assert isinstance(rehearse, click.Command)
    assert rehearse.name == "rehearse"


def test_a_wrong_script_is_a_usage_error_in_one_sentence(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text("version = 1\nturns = []")
    output = refusal("--script", str(script)).output
    assert f"{script}: turns is not a field of a script" in output


def test_a_closed_descriptor_is_refused_before_anything_starts() -> None:
    assert "--ready-fd: 1023 is not an open descriptor" in refusal("--ready-fd", "1023").output


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_cannot_be_one_is_refused(port: str) -> None:
    assert "--port" in refusal("--port", port).output


def test_help_names_every_option() -> None:
    output = CliRunner().invoke(rehearse, ["--help"]).output
    for option in (
        "script",
        "port",
        "ready-fd",
        "key-stdin",
        "die-with-stdin",
        "log",
        "repeatable",
    ):
        assert f"--{option}" in output
