"""The written file is valid as it is, and so is every line that is a comment in it."""

import re
from pathlib import Path

import pytest

from stanchion.broker.config import Account, BrokerTable, Profile, read_config
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.setup.first_config import PROVIDERS, config_text, write_new

COMMENTED = re.compile(r"^# (?=\[|[a-z_]+ = |\"ACCOUNT)", re.MULTILINE)


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
def test_the_file_is_valid_as_it_is(provider: str | None) -> None:
    config = read_config(config_text(provider, None).encode())
    accounts = config.profiles["evals"].accounts
    wanted = {} if provider is None else {PROVIDERS[provider].account}
    assert set(accounts) == set(wanted)


def test_every_commented_line_is_a_key_that_exists() -> None:
    text = re.sub(r'^# credential = "env.*\n', "", config_text(None, None), flags=re.MULTILINE)
    config = read_config(COMMENTED.sub("", text).replace("ca.pem", "ca.pem").encode())
    assert len(config.profiles["evals"].accounts) == len(PROVIDERS)
    assert config.broker.egress_proxy is not None


def test_every_key_that_exists_is_in_the_file() -> None:
    text = config_text(None, None)
    for table in (Account, Profile):
        named = set(table.__struct_fields__) - {"accounts", "models", "prices"}
        assert {name for name in named if f"{name} = " not in text} == set()
    assert "[profiles.evals.models." in text
    assert "[profiles.evals.prices]" in text
    for name in ("max_runs", "ca_bundle", "egress_proxy"):
        assert name in BrokerTable.__struct_fields__
        assert f"# {name} = " in text


def test_another_address_is_written() -> None:
    config = read_config(config_text("vllm", "http://127.0.0.1:9000/v1").encode())
    assert config.profiles["evals"].accounts["vllm"].base_url == "http://127.0.0.1:9000/v1"


def test_a_file_that_is_there_is_never_changed(tmp_path: Path) -> None:
    file = tmp_path / "stanchion.toml"
    file.write_text("mine")
    with pytest.raises(RefusedError) as refused:
        write_new(file, "version = 1\n")
    assert refused.value.refusal.id == "config_exists"
    assert file.read_text() == "mine"
