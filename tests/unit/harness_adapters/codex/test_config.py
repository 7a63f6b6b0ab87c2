import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.base import Settings, Written
from stanchion.harness_adapters.codex import config
from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.OPENAI_RESPONSES)

NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def written(settings: Settings) -> dict[str, bytes]:
    return {file.path: (file.text or "").encode() for file in config.files(settings)}


def understood(settings: Settings, **changes: str) -> Written:
    """Read back after a text in one of the files became another one."""
    files = written(settings)
    for old, new in changes.items():
        files = {path: text.replace(old.encode(), new.encode()) for path, text in files.items()}
    return config.understood(config.environment(settings), files)


@pytest.mark.parametrize(
    "settings",
    [
        PLAIN,
        replace(PLAIN, effort=None, context=400_000),
        replace(PLAIN, model="org/Sub.mod-el_1:8b@2026+x~y", effort="a.b-c_d:e+f"),
    ],
)
def test_what_is_written_is_read_back(settings: Settings) -> None:
    read = understood(settings)
    assert (read.model, read.effort) == (settings.model, settings.effort)
    assert (read.context, read.output_limit) == (settings.context, None)
    assert read.base_url == f"{settings.base_url}/v1"


def test_another_word_that_it_would_take_for_it_is_not_read_back() -> None:
    assert understood(PLAIN, max="ultra").effort is None


def test_a_window_that_would_be_cut_is_not_read_back() -> None:
    settings = replace(PLAIN, context=400_000)
    cut = {'"max_context_window": 400000': '"max_context_window": 272000'}
    assert understood(settings, **cut).context is None


@pytest.mark.parametrize(
    "changes",
    [
        {"model_catalog_json": "catalog"},
        {'"slug": "future-9"': '"slug": "future"'},
        {"[features]": "[features"},
        {'"models"': '"nothing"'},
        {'{\n "models"': '{{\n "models"'},
        {'"models": [': '"models": [7,'},
    ],
)
def test_a_configuration_that_names_the_model_nowhere_is_nothing(changes: dict[str, str]) -> None:
    assert understood(PLAIN, **changes) == NOTHING
    assert config.understood({}, {}) == NOTHING


def test_nothing_that_asks_elsewhere_or_by_itself_is_left_on() -> None:
    said = tomllib.loads(written(PLAIN)[f"{config.folder(PLAIN.home)}/config.toml"].decode())
    assert not any(said["features"].values())
    assert said["agents"] == said["analytics"] == {"enabled": False}
    assert said["web_search"] == "disabled"
    assert said["project_doc_max_bytes"] == 0
    assert said["projects"] == {"/work": {"trust_level": "untrusted"}}
    provider = said["model_providers"][said["model_provider"]]
    assert "supports_websockets" not in provider, "true costs four tries and six seconds"
    assert provider["stream_idle_timeout_ms"] == 600_000


def test_the_catalog_holds_this_model_alone_with_the_instructions_for_an_unknown_one() -> None:
    catalog = json.loads(written(PLAIN)[f"{config.folder(PLAIN.home)}/models.json"])
    (entry,) = catalog["models"]
    assert entry["slug"] == PLAIN.model
    said = tomllib.loads(written(PLAIN)[f"{config.folder(PLAIN.home)}/config.toml"].decode())
    assert said["model_instructions_file"] == f"{PLAIN.package_dir}/base_instructions.txt"


def test_the_tasks_variables_reach_it_and_its_folder_is_its_own() -> None:
    env = config.environment(PLAIN)
    assert (env["PATH"], env["TASK"]) == ("/image/bin", "1")
    assert env["CODEX_HOME"] == "/home/agent/.stanchion-codex"


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_every_path_that_passes_is_written_as_it_is(name: str) -> None:
    settings = replace(PLAIN, workdir=f"/{name}", home=f"/{name}")
    said = tomllib.loads(written(settings)[f"{config.folder(settings.home)}/config.toml"].decode())
    assert list(said["projects"]) == [f"/{name}"]
    assert understood(settings).model == PLAIN.model
