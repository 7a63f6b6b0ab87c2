"""task.toml, field by field: obeyed, harmless or refused by name."""

import tomllib
from typing import Any

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.task_config import TaskConfig, parse_size_mb, read_config


def read(text: str) -> TaskConfig:
    return read_config(tomllib.loads(text), where="t/task.toml")


def test_what_is_not_said_has_harbors_defaults() -> None:
    config = read("")

    assert (config.base, config.workdir, config.untouched_reward) == ("debian", "/work", "0")
    assert (config.agent_s, config.verifier_s) == (600, 600)
    assert (config.answers, config.cpu_milli, config.memory_mb) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("[agent]\ntimeout_sec = 90.5", "agent_s", 91),
        ("[verifier]\ntimeout_sec = 30", "verifier_s", 30),
        ("[environment]\ncpus = 1.5", "cpu_milli", 1500),
        ("[environment]\nmemory_mb = 3000", "memory_mb", 3000),
        ('[environment]\nmemory = "2G"', "memory_mb", 2048),
        ('[environment]\nworkdir = "/app"', "workdir", "/app"),
        ('[environment]\nnetwork_mode = "none"', "workdir", "/work"),
        ("[environment]\nallow_internet = false", "workdir", "/work"),
        ('[environment.env]\nA = "1"', "env", {"A": "1"}),
        ('[verifier.env]\nA = "1"', "verifier_env", {"A": "1"}),
        ('[metadata.stanchion]\nanswer = ["/a"]', "answers", ("/a",)),
        ("[metadata.stanchion]\nuntouched_reward = 0.25", "untouched_reward", "0.25"),
        ("[metadata]\nanything = { at = 'all' }\n[task]\nname = 'x/y'", "base", "debian"),
        ("[environment]\ngpus = 0\nbuild_timeout_sec = 600", "base", "debian"),
    ],
)
def test_a_field_is_obeyed(text: str, field: str, value: Any) -> None:
    assert getattr(read(text), field) == value


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[[steps]]\nname = 'a'", "steps"),
        ("artifacts = ['/x']", "artifacts"),
        ("[environment]\ndocker_image = 'x'", "environment.docker_image"),
        ("[environment]\ngpus = 1", "environment.gpus"),
        ("[environment]\nnetwork_mode = 'public'", "environment.network_mode"),
        ("[environment]\nallow_internet = true", "environment.allow_internet"),
        ("[agent]\nnetwork_mode = 'allowlist'", "agent.network_mode"),
        ("[[environment.mcp_servers]]\nname = 'x'", "environment.mcp_servers"),
        ("[environment.healthcheck]\ncommand = 'x'", "environment.healthcheck"),
        ("[environment]\nsurprise = 1", "environment.surprise"),
        ("surprise = 1", "surprise"),
        ("[metadata.stanchion]\nanswers = ['/a']", "metadata.stanchion.answers"),
        ("[metadata.stanchion]\nanswer = '/a'", "metadata.stanchion.answer"),
        ("[metadata.stanchion]\nanswer = ['a']", "metadata.stanchion.answer"),
        ("[metadata.stanchion]\nbase = 7", "metadata.stanchion.base"),
        ("[metadata.stanchion]\nuntouched_reward = 'inf'", "metadata.stanchion.untouched_reward"),
        ("[metadata.stanchion]\nuntouched_reward = 'x'", "metadata.stanchion.untouched_reward"),
        ("[metadata.stanchion]\nuntouched_reward = true", "metadata.stanchion.untouched_reward"),
        ("metadata = 7", "metadata"),
        ("agent = 7", "agent"),
        ("[agent]\ntimeout_sec = 0", "agent.timeout_sec"),
        ("[agent]\ntimeout_sec = '9'", "agent.timeout_sec"),
        ("[agent]\ntimeout_sec = 1e9", "agent.timeout_sec"),
        ("[verifier]\nenvironment_mode = 'separate'", "verifier.environment_mode"),
        ("[environment]\ncpus = nan", "environment.cpus"),
        ("[environment]\nmemory = 'much'", "environment.memory"),
        ("[environment]\nworkdir = 'app'", "environment.workdir"),
        ("[environment]\nworkdir = '/a/../b'", "environment.workdir"),
        ("[environment]\nenv = 7", "environment.env"),
        ("[environment.env]\nA = 1", "environment.env.A"),
        ("[environment.env]\nA = '${HOME}'", "environment.env.A"),
    ],
)
def test_a_field_that_cannot_be_obeyed_is_refused_by_file_and_name(text: str, field: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read(text)
    assert refused.value.refusal.field == f"t/task.toml, {field}"


@pytest.mark.parametrize(
    ("text", "size_mb"),
    [("2G", 2048), ("512M", 512), ("1.5GiB", 1536), ("1k", 1), ("1T", 1048576), ("2", None)],
)
def test_sizes_are_read_in_megabytes(text: str, size_mb: int | None) -> None:
    assert parse_size_mb(text) == size_mb
