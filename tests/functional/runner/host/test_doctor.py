"""`stanchion doctor` as a command."""

import json
from pathlib import Path

from click.testing import CliRunner

from stanchion.runner.cli.doctor import doctor


def test_a_host_without_pieces_is_exit_code_1(tmp_path: Path) -> None:
    done = CliRunner().invoke(doctor, ["--state-dir", str(tmp_path / "state"), "--json"])
    checks = json.loads(done.output)

    assert done.exit_code == 1
    assert {check["name"] for check in checks} >= {"system", "user", "runsc", "cgroup", "bundle"}
    assert list(tmp_path.iterdir()) == []


def test_people_see_the_command_that_mends_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(doctor, ["--state-dir", str(tmp_path)])

    assert "bundle      MISSING" in done.output
    assert "fix: stanchion images bundle" in done.output
