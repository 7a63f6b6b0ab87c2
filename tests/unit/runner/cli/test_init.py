from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion.broker.config import read_config
from stanchion.runner.cli.root import root


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_next_commands_are_said_in_order(here: Path) -> None:
    done = CliRunner().invoke(root, ["init", "--provider", "anthropic"])
    assert done.exit_code == 0
    assert done.output.splitlines()[1:] == [
        "next:  stanchion key set evals/anthropic",
        "       stanchion broker check --live",
        "       stanchion run TASK --harness opencode --model anthropic/MODEL",
    ]
    assert "evals" in read_config((here / "stanchion.toml").read_bytes()).profiles


def test_a_server_without_a_key_needs_none_stored(here: Path) -> None:
    done = CliRunner().invoke(root, ["init", "--provider", "vllm", "--path", "v.toml"])
    assert "key set" not in done.output
    assert "stanchion broker check --live --config v.toml" in done.output


def test_an_address_of_nobody_is_a_usage_error(here: Path) -> None:
    assert CliRunner().invoke(root, ["init", "--base-url", "https://h/v1"]).exit_code == 2
    assert list(here.iterdir()) == []


def test_without_a_provider_all_accounts_are_comments(here: Path) -> None:
    done = CliRunner().invoke(root, ["init"])
    assert "take the #" in done.output
    assert read_config((here / "stanchion.toml").read_bytes()).profiles["evals"].accounts == {}
