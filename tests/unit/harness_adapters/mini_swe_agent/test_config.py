import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stanchion.harness_adapters.base import DocumentStore, Settings, Written
from stanchion.harness_adapters.mini_swe_agent import MiniSweAgent, config
from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.mini_swe_agent.mini_launches import OWN, PLAIN

SETTINGS = f"{OWN}/run.yaml"
ANTHROPIC = Dialect.ANTHROPIC_MESSAGES


def written(settings: Settings) -> tuple[dict[str, str], dict[str, bytes]]:
    plan = MiniSweAgent().plan(settings)
    return dict(plan.env), {file.path: (file.text or "").encode() for file in plan.files}


def understood(settings: Settings) -> Written:
    return MiniSweAgent().read_back(*written(settings))


def table(settings: Settings) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(written(settings)[1][SETTINGS])
    return read


def test_it_is_started_from_its_package_alone_and_reads_no_file_of_the_workspace() -> None:
    plan = MiniSweAgent().plan(PLAIN)
    package = PLAIN.package_dir
    assert plan.argv[:4] == (f"{package}/runtime/bin/python3.11", "-I", "-m", "minisweagent")
    paths = [argument for argument in plan.argv[4:] if not argument.startswith("-")]
    assert all(path.startswith(("/opt/", f"{OWN}/")) for path in paths)
    assert plan.store == DocumentStore(path=f"{OWN}/trajectory.json")
    assert plan.env["MSWEA_GLOBAL_CONFIG_DIR"] == OWN
    assert written(PLAIN)[1][f"{OWN}/.env"] == b""
    assert (plan.env["TASK"], plan.env["LITELLM_LOCAL_MODEL_COST_MAP"]) == ("1", "True")


def test_over_openai_limit_and_effort_are_what_no_table_of_models_can_change() -> None:
    model = table(PLAIN)["model"]
    arguments = model["model_kwargs"]
    assert model["model_name"] == "custom_openai/maker/future-9"
    assert (arguments["max_tokens"], arguments["drop_params"]) == (128_000, False)
    assert arguments["extra_body"] == {"reasoning_effort": "max"}
    assert arguments["api_base"] == "http://127.0.0.1:4711/v1"
    assert (arguments["timeout"], arguments["max_retries"]) == (MiniSweAgent.header_wait_s, 0)
    assert model["set_cache_control"] is None


def test_over_anthropic_the_model_is_declared_able_to_take_every_effort() -> None:
    launch = replace(PLAIN, dialect=ANTHROPIC, model="claude-opus-4-1")
    model = table(launch)["model"]
    assert model["model_name"] == "anthropic/claude-opus-4-1"
    assert model["model_kwargs"]["output_config"] == {"effort": "max"}
    known = json.loads(written(launch)[1][model["litellm_model_registry"]])
    assert known["claude-opus-4-1"] == known["anthropic/claude-opus-4-1"]
    assert known["claude-opus-4-1"]["supports_xhigh_reasoning_effort"] is True


def test_without_an_effort_nothing_is_said_of_it() -> None:
    for dialect in MiniSweAgent.dialects:
        launch = replace(PLAIN, effort=None, dialect=dialect)
        arguments = table(launch)["model"]["model_kwargs"]
        assert not {"extra_body", "output_config", "thinking"} & set(arguments)
        assert understood(launch).effort is None


@pytest.mark.parametrize("dialect", MiniSweAgent.dialects)
def test_what_was_written_is_read_back_and_a_window_is_nothing_it_needs(dialect: Dialect) -> None:
    assert understood(replace(PLAIN, dialect=dialect)) == Written(
        model="maker/future-9",
        base_url="http://127.0.0.1:4711",
        output_limit=128_000,
        context=None,
        effort="max",
        unsaid=frozenset({"context"}),
    )


def set_argument(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda read: read["model"]["model_kwargs"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        set_argument("drop_params", True),
        set_argument("max_tokens", "128k"),
        lambda read: read["model"].update(model_name="openai/maker/future-9"),
        lambda read: read.pop("model"),
    ],
)
def test_a_file_that_says_otherwise_is_not_what_was_asked_for(
    change: Callable[[dict[str, Any]], None],
) -> None:
    env, files = written(PLAIN)
    read = json.loads(files[SETTINGS])
    change(read)
    files[SETTINGS] = json.dumps(read).encode()
    assert MiniSweAgent().read_back(env, files).output_limit is None


@pytest.mark.parametrize("path", [SETTINGS, f"{OWN}/.env"])
def test_garbage_and_foreign_variables_are_understood_as_nothing(path: str) -> None:
    env, files = written(PLAIN)
    assert MiniSweAgent().read_back(env, {**files, path: b"A=1"}).model is None
    for name in config._SWITCHES:
        assert MiniSweAgent().read_back({**env, name: "x"}, files).model is None


def test_no_character_of_the_instruction_means_anything_to_yaml() -> None:
    odd = "\x7f\x85\u2028\ufeff\ufffe \U0001f600 \x1b[0m {{ task }} #: - 'x' \"y\" \\u0041\n\t%"
    text = written(replace(PLAIN, instruction=odd))[1][SETTINGS].decode()
    assert json.loads(text)["run"]["task"] == odd
    assert not {"\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "\x1b"} & set(text)
    assert "\\ud83d" not in text
