"""`stanchion rerun` refuses in one sentence, before anything starts."""

import json
from pathlib import Path

from click.testing import CliRunner

from stanchion.runner.cli.rerun import rerun


def test_a_folder_without_terms_is_refused(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    done = CliRunner().invoke(rerun, [str(tmp_path), "--json", "--state-dir", state])

    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["id"] == "rerun_impossible"
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_nobody_knows_needs_a_broker(tmp_path: Path) -> None:
    done = CliRunner().invoke(rerun, ["7f3a90c41b22", "--state-dir", str(tmp_path / "state")])

    assert done.exit_code == 5
    assert "no broker answers" in done.output
