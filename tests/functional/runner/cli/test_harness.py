import json
from pathlib import Path

from click.testing import CliRunner

from stanchion.runner.cli.root import root


def test_the_list_is_one_json_document(tmp_path: Path) -> None:
    done = CliRunner().invoke(root, ["harness", "list", "--json", "--state-dir", str(tmp_path)])

    assert done.exit_code == 0
    releases = {found["name"]: found for found in json.loads(done.stdout)}
    assert releases["opencode"]["version"] == "1.18.33"


def test_fetching_prints_where_it_is_and_its_digest(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        root, ["harness", "fetch", "noop", "--json", "--state-dir", str(tmp_path)]
    )

    assert done.exit_code == 0
    fetched = json.loads(done.stdout)
    assert (Path(fetched["path"]) / "manifest.json").is_file()
    assert (fetched["name"], fetched["cached"], len(fetched["digest"])) == ("noop", False, 64)


def test_a_release_that_is_not_pinned_is_refused_with_those_that_are(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        root, ["harness", "fetch", "opencode@9", "--state-dir", str(tmp_path)]
    )

    assert done.exit_code != 0
    assert "pinned versions: 1.18.33" in done.stderr


def test_a_lock_of_nothing_is_refused_before_anything_is_asked() -> None:
    done = CliRunner().invoke(root, ["harness", "lock", "--program", "x"])

    assert done.exit_code != 0
    assert "name packages of one of them" in done.stderr
