"""`stanchion show` needs nothing but the folder."""

from pathlib import Path

from click.testing import CliRunner
from tests.fakes.results import a_result

from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult
from stanchion.runner.cli.show import show
from stanchion.runner.results.job_folder import write_json


def test_one_attempt_is_one_object_and_several_are_an_array(tmp_path: Path) -> None:
    for name in ("a__1", "a__2"):
        (tmp_path / "attempts" / name).mkdir(parents=True)
        write_json(tmp_path / "attempts" / name / "result.json", a_result())
    one = CliRunner().invoke(show, [str(tmp_path / "attempts" / "a__1"), "--json"])
    both = CliRunner().invoke(show, [str(tmp_path), "--json"])

    assert decode(one.output, AttemptResult) == a_result()
    assert decode(both.output, list[AttemptResult]) == [a_result(), a_result()]


def test_people_get_a_block_for_each(tmp_path: Path) -> None:
    write_json(tmp_path / "result.json", a_result())

    assert "ENDED  completed" in CliRunner().invoke(show, [str(tmp_path)]).output


def test_a_folder_without_results_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(show, [str(tmp_path)])

    assert (done.exit_code, "no result.json" in done.output) == (2, True)


def test_a_result_that_cannot_be_read_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{")
    done = CliRunner().invoke(show, [str(tmp_path)])

    assert (done.exit_code, done.output.startswith("error: ")) == (1, True)
