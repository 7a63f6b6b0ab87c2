"""The options of `stanchion run`, and what it exits with."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.fakes.results import a_result

from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.outcome import EndReason
from stanchion.runner.cli.run import answer_paths, exit_code, memory_mb, run, split_model
from stanchion.runner.tasks.examples import example_task


def test_the_model_is_all_after_the_first_slash() -> None:
    assert split_model("vllm/Qwen/Qwen3") == ("vllm", "Qwen/Qwen3")


@pytest.mark.parametrize("text", ["gpt", "/x", "x/", ""])
def test_a_model_without_an_account_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="ACCOUNT/MODEL"):
        split_model(text)


def test_answers_are_absolute_paths() -> None:
    assert answer_paths(()) is None
    assert answer_paths(("/a", "/b")) == ("/a", "/b")
    for path in ("a", "/a/../b"):
        with pytest.raises(click.BadParameter):
            answer_paths((path,))


@pytest.mark.parametrize(("text", "size_mb"), [("4G", 4096), ("3000", 3000), (None, None)])
def test_memory_is_a_size(text: str | None, size_mb: int | None) -> None:
    assert memory_mb(text) == size_mb


@pytest.mark.parametrize("text", ["lots", "0", "0G"])
def test_no_memory_is_no_size(text: str) -> None:
    with pytest.raises(click.BadParameter):
        memory_mb(text)


@pytest.mark.parametrize(
    ("reason", "score", "code"),
    [
        (EndReason.COMPLETED, 1.0, ExitCode.OK),
        (EndReason.COMPLETED, 0.0, ExitCode.OK),
        (EndReason.COMPLETED, None, ExitCode.FAILED),
        (EndReason.HARNESS_SIGNAL, None, ExitCode.FAILED),
        (EndReason.REFUSED, None, ExitCode.REFUSED),
    ],
)
def test_a_wrong_answer_is_a_finished_run_and_a_dead_agent_is_not(
    reason: EndReason, score: float | None, code: ExitCode
) -> None:
    assert exit_code(a_result(reason, score=score)) is code


def test_a_cancel_counts_only_where_it_came_in_time() -> None:
    cancelled = a_result(EndReason.CANCELLED, score=None)

    assert exit_code(cancelled, ExitCode.TIMEOUT) is ExitCode.TIMEOUT
    assert exit_code(a_result(), ExitCode.TIMEOUT) is ExitCode.OK


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--harness", "opencode"],
        ["--harness", "opencode", "--model", "noslash"],
        ["--harness", "opencode", "--model", "a/b", "--output-limit", "0"],
        ["--harness", "nosuch", "--model", "a/b"],
    ],
)
def test_wrong_options_are_exit_code_2(arguments: list[str]) -> None:
    done = CliRunner().invoke(run, [str(example_task("hello")), *arguments])

    assert done.exit_code == 2, done.output


def test_a_task_that_cannot_be_read_is_exit_code_2(tmp_path: Path) -> None:
    done = CliRunner().invoke(run, [str(tmp_path), "--harness", "opencode", "--model", "a/b"])

    assert (done.exit_code, "task.toml" in done.output) == (2, True)
