"""task.toml, field by field: obeyed, taken down, harmless, or refused by file and line."""

from typing import Any

import pytest

from stanchion.protocol.launch import Artifact
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.task_config import TaskConfig, read_config
from stanchion.runner.tasks.task_fields import FIELDS, Fate
from stanchion.runner.tasks.users import User

HOST = {"COLOUR": "red", "API_KEY": "sk-secret"}


def read(text: str, **ways: Any) -> TaskConfig:
    return read_config(text, where="t/task.toml", host=HOST, **ways)


def refusal(text: str, **ways: Any) -> tuple[str, str]:
    with pytest.raises(RefusedError) as refused:
        read(text, **ways)
    found = refused.value.refusal
    assert found.id == "task_refused"
    assert found.remedy
    assert "sk-secret" not in found.sentence()
    return found.field, found.sentence()


def test_what_is_not_said_has_a_default_and_is_told_where_harbor_differs() -> None:
    config = read("")

    assert (config.base, config.workdir, config.untouched_reward) == ("debian", "/work", "0")
    assert (config.agent_s, config.verifier_s) == (3600, 600)
    assert (config.answers, config.cpu_milli, config.memory_mb) == (None, None, None)
    assert (config.agent_user, config.artifacts, config.storage_mb) == (None, (), None)
    assert set(config.notes) == {"sandbox.network", "agent.timeout_sec"}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("[agent]\ntimeout_sec = 90.5", "agent_s", 91),
        ("[agent]\nuser = 'agent'", "agent_user", User("agent", "t/task.toml:2, agent.user")),
        ("[agent]\nuser = 1000", "agent_user", User("1000", "t/task.toml:2, agent.user")),
        ("[verifier]\nuser = '0'", "verifier_user", User("0", "t/task.toml:2, verifier.user")),
        ("[verifier]\ntimeout_sec = 30", "verifier_s", 30),
        ("[verifier]\nenvironment_mode = 'shared'", "verifier_s", 600),
        ("[environment]\ncpus = 1.5", "cpu_milli", 1500),
        ("[environment]\nmemory_mb = 3000", "memory_mb", 3000),
        ('[environment]\nmemory = "2G"', "memory_mb", 2048),
        ('[environment]\nmemory = "2G"\nmemory_mb = 2048', "memory_mb", 2048),
        ("[environment]\nstorage_mb = 10240", "storage_mb", 10240),
        ('[environment]\nstorage = "10G"', "storage_mb", 10240),
        ('[environment]\nworkdir = "/app"', "workdir", "/app"),
        ('[environment]\nnetwork_mode = "none"', "workdir", "/work"),
        ("[environment]\nallow_internet = false", "workdir", "/work"),
        ('[environment]\nos = "Linux"', "workdir", "/work"),
        ('[environment.env]\nA = "1"', "env", {"A": "1"}),
        ('[environment.env]\nA = "${COLOUR}"', "env", {"A": "red"}),
        ('[environment.env]\nA = "${SHAPE:-round}"', "env", {"A": "round"}),
        ('[environment.env]\nA = "a ${COLOUR}"', "env", {"A": "a ${COLOUR}"}),
        ('[verifier.env]\nA = "${COLOUR}"', "verifier_env", {"A": "red"}),
        ('[solution.env]\nA = "${NOWHERE}"', "solution_env", {}),
        ('[metadata.stanchion]\nanswer = ["/a"]', "answers", ("/a",)),
        ("[metadata.stanchion]\nuntouched_reward = 0.25", "untouched_reward", "0.25"),
        ("[metadata]\nanything = { at = 'all' }\n[task]\nname = 'x/y'", "base", "debian"),
        ("[environment]\ngpus = 0\nbuild_timeout_sec = 600", "base", "debian"),
        ("[environment]\ndocker_image = ''\nmcp_servers = []", "base", "debian"),
        ("steps = []\nsource = 'x'\nversion = '1.0'", "base", "debian"),
        ("artifacts = ['/work/out']", "artifacts", (Artifact(source="/work/out"),)),
        (
            "[[artifacts]]\nsource='/a'\ndestination='b/c'\nexclude=['*.o']\nservice='main'",
            "artifacts",
            (Artifact(source="/a", destination="b/c", exclude=("*.o",)),),
        ),
    ],
)
def test_a_field_is_obeyed(text: str, field: str, value: Any) -> None:
    assert getattr(read(text), field) == value


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("schema_version = '2.0'", 1, "schema_version"),
        ("version = '2'", 1, "version"),
        ("[[steps]]\nname = 'a'", 1, "steps"),
        ("artifacts = ['x']", 1, "artifacts"),
        ("artifacts = '/x'", 1, "artifacts"),
        ("artifacts = [7]", 1, "artifacts"),
        ("[[artifacts]]\nsource = '/a'\nservice = 'db'", 1, "artifacts"),
        ("[[artifacts]]\nsource = '/a'\ndestination = '../b'", 1, "artifacts"),
        ("[[artifacts]]\nsource = '/a'\nsurprise = 1", 1, "artifacts"),
        ("[[artifacts]]\ndestination = 'b'", 1, "artifacts"),
        ("[[artifacts]]\nsource = '/a'\nexclude = 'x'", 1, "artifacts"),
        ("[environment]\ndocker_image = 'x'", 2, "environment.docker_image"),
        ("[environment]\n\ngpus = 1", 3, "environment.gpus"),
        ("[environment]\ngpu_types = ['H100']", 2, "environment.gpu_types"),
        ("[environment.tpu]\ntype = 'v5'", 1, "environment.tpu"),
        ("[environment]\nskills_dir = '/s'", 2, "environment.skills_dir"),
        ("[environment]\nos = 'windows'", 2, "environment.os"),
        ("[environment]\nnetwork_mode = 'public'", 2, "environment.network_mode"),
        ("[environment]\nallow_internet = true", 2, "environment.allow_internet"),
        ("[environment]\nallowed_hosts = ['x.org']", 2, "environment.allowed_hosts"),
        ("[agent]\nnetwork_mode = 'allowlist'", 2, "agent.network_mode"),
        ("[verifier]\nnetwork_mode = 'public'", 2, "verifier.network_mode"),
        ("[verifier]\nallowed_hosts = ['x.org']", 2, "verifier.allowed_hosts"),
        ("[[environment.mcp_servers]]\nname = 'x'", 1, "environment.mcp_servers"),
        ("[environment.healthcheck]\ncommand = 'x'", 1, "environment.healthcheck"),
        ("[[verifier.collect]]\ncommand = 'x'", 1, "verifier.collect"),
        ("[verifier.environment]\ncpus = 1", 1, "verifier.environment"),
        ("[environment]\nsurprise = 1", 2, "environment.surprise"),
        ("\n\nsurprise = 1", 3, "surprise"),
        ("[solution]\nsurprise = 1", 2, "solution.surprise"),
        ("[metadata.stanchion]\nanswers = ['/a']", 2, "metadata.stanchion.answers"),
        ("[metadata.stanchion]\nanswer = '/a'", 2, "metadata.stanchion.answer"),
        ("[metadata.stanchion]\nanswer = ['a']", 2, "metadata.stanchion.answer"),
        ("[metadata.stanchion]\nbase = 7", 2, "metadata.stanchion.base"),
        ("[metadata.stanchion]\nbase = 'ubuntu'", 2, "metadata.stanchion.base"),
        (
            "[metadata.stanchion]\nuntouched_reward = 'inf'",
            2,
            "metadata.stanchion.untouched_reward",
        ),
        ("[metadata.stanchion]\nuntouched_reward = 'x'", 2, "metadata.stanchion.untouched_reward"),
        ("[metadata.stanchion]\nuntouched_reward = true", 2, "metadata.stanchion.untouched_reward"),
        ("metadata = 7", 1, "metadata"),
        ("agent = 7", 1, "agent"),
        ("[agent]\ntimeout_sec = 0", 2, "agent.timeout_sec"),
        ("[agent]\ntimeout_sec = '9'", 2, "agent.timeout_sec"),
        ("[agent]\ntimeout_sec = 1e9", 2, "agent.timeout_sec"),
        ("[agent]\nuser = 'Not A User'", 2, "agent.user"),
        ("[agent]\nuser = -1", 2, "agent.user"),
        ("[verifier]\nenvironment_mode = 'separate'", 2, "verifier.environment_mode"),
        ("[environment]\ncpus = nan", 2, "environment.cpus"),
        ("[environment]\nmemory = 'much'", 2, "environment.memory"),
        ("[environment]\nmemory = '1G'\nmemory_mb = 3", 2, "environment.memory"),
        ("[environment]\nstorage_mb = 0", 2, "environment.storage_mb"),
        ("[environment]\nworkdir = 'app'", 2, "environment.workdir"),
        ("[environment]\nworkdir = '/a/../b'", 2, "environment.workdir"),
        ("[environment]\nenv = 7", 2, "environment.env"),
        ("[environment.env]\nA = 1", 2, "environment.env.A"),
        ("[environment.env]\nA = '${NOWHERE}'", 2, "environment.env.A"),
        ("[environment.env]\nA = '${API_KEY}'", 2, "environment.env.A"),
        ('[environment.env]\n"A=" = "1"', 2, "environment.env.A="),
    ],
)
def test_a_field_that_cannot_be_obeyed_is_refused_by_file_line_and_name(
    text: str, line: int, field: str
) -> None:
    assert refusal(text)[0] == f"t/task.toml:{line}, {field}"


@pytest.mark.parametrize(
    "row", [row for row in FIELDS if row.fate is Fate.REFUSED], ids=lambda row: row.name
)
def test_every_refused_row_refuses_and_gives_its_reason(row: Any) -> None:
    table, _, key = row.name.rpartition(".")
    head = f"[{table}]\n" if table else ""
    field, sentence = refusal(f"{head}{key} = ['x']")
    assert field.endswith(row.name)
    assert row.what in sentence


def test_the_solutions_variables_are_read_only_where_it_is_run() -> None:
    text = '[solution.env]\nA = "${NOWHERE}"\nB = "${COLOUR}"'
    assert refusal(text, solving=True)[0] == "t/task.toml:2, solution.env.A"
    assert read('[solution.env]\nB = "${COLOUR}"', solving=True).solution_env == {"B": "red"}


@pytest.mark.parametrize("ways", [{"image_given": True}, {}])
def test_an_image_is_stood_in_for_by_an_option_or_a_named_base(ways: dict[str, bool]) -> None:
    text = "[environment]\ndocker_image = 'x:1'\n"
    if not ways:
        text += "[metadata.stanchion]\nbase = 'debian'\n"
    assert "x:1" in read(text, **ways).notes["image.verified"]


def test_what_was_taken_from_the_host_or_is_not_enforced_is_noted() -> None:
    notes = read('[environment]\nstorage_mb = 5\n[environment.env]\nA = "${COLOUR}"').notes
    assert "COLOUR of this host" in notes["environment.env.A"]
    assert "not limited" in notes["sandbox.storage_mb"]


def test_a_named_network_and_deadline_need_no_word() -> None:
    assert read("[environment]\nnetwork_mode='no-network'\n[agent]\ntimeout_sec=5").notes == {}


def test_a_text_that_is_not_toml_is_refused_with_its_line() -> None:
    field, sentence = refusal("a = 1\nb = \n")
    assert field == "t/task.toml"
    assert "line 2" in sentence
