"""The options of `stanchion smoke` that name a program of the user's own."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.cli.smoke import smoke

EXAMPLE = Path(__file__).parents[4] / "examples" / "own-program" / "agent.toml"
MODEL = ("--model", "rehearsal/x")


def said(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(smoke, words)
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("--harness", "pi", "--command", str(EXAMPLE)), "and no other, has a command"),
        (("--harness", "command"), "has a command, the file that describes it"),
        (("--command", "nowhere.toml"), "does not exist"),
        (("--matrix", str(EXAMPLE), "--command", str(EXAMPLE)), "leave out --command"),
    ],
)
def test_a_command_goes_with_its_own_harness_alone(words: tuple[str, ...], rule: str) -> None:
    code, output = said(*words, *MODEL[: 0 if "--matrix" in words else 2])
    assert code == ExitCode.USAGE
    assert rule in " ".join(output.split())


def test_the_harness_need_not_be_said_beside_it(tmp_path: Path) -> None:
    unusable = tmp_path / "agent.toml"
    unusable.write_text('name = "tiny"\n')
    code, output = said("--command", str(unusable), *MODEL)
    assert code == ExitCode.USAGE
    assert str(unusable) in output
    assert "--harness" not in output
