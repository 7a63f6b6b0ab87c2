"""The words of `stanchion run`'s options."""

from pathlib import Path

import click
import pytest

from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.cli.run_options import Tokens, folders_of, model_of


def test_only_a_harness_that_asks_no_model_may_do_without() -> None:
    assert model_of("a/b/c", adapter("opencode")) == ("a", "b/c")
    assert model_of(None, adapter("oracle")) == ("rehearsal", "none")
    with pytest.raises(click.MissingParameter):
        model_of(None, adapter("opencode"))


def test_files_beside_the_tasks_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "task").mkdir()

    assert folders_of((tmp_path / "README.md", tmp_path / "task")) == [tmp_path / "task"]
    assert "passed over" in capsys.readouterr().err
    assert folders_of(()) == []
    with pytest.raises(RefusedError):
        folders_of((tmp_path / "README.md",))


def test_tokens_are_plain_whole_numbers() -> None:
    assert Tokens().convert("131_072", None, None) == 131072
    for text in ("128k", "-5", "0", "1.5", "", "1e5", "\uff11\uff12\uff18", "999999999999"):
        with pytest.raises(click.BadParameter, match="131072"):
            Tokens().convert(text, None, None)
    assert Tokens(0).convert("0", None, None) == 0
