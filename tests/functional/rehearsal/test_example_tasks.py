"""The example tasks grade what they should, and their scripts solve them over the wire."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from functional.rehearsal.player import Rehearsal, joined
from functional.rehearsal.stage import HOST_PATH, TASKS, Stage, require_namespaces

NAMES = sorted(path.parent.name for path in TASKS.glob("*/task.toml"))
TOOLS = ("bash", "edit", "glob", "grep", "read", "task", "todowrite", "write")


@pytest.fixture(params=NAMES)
def task(request: pytest.FixtureRequest) -> Path:
    require_namespaces()
    return TASKS / str(request.param)


def test_there_are_tasks_to_check() -> None:
    assert {"hello", "fix-bug"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_task_says_what_the_runner_needs(name: str) -> None:
    settings = tomllib.loads((TASKS / name / "task.toml").read_text())
    ours = settings["metadata"]["stanchion"]
    assert settings["schema_version"] == "1.4"
    assert settings["task"]["name"] == f"stanchion/{name}"
    assert (settings["agent"]["timeout_sec"], settings["verifier"]["timeout_sec"]) == (600, 120)
    assert settings["environment"] == {"workdir": "/work", "network_mode": "no-network"}
    assert ours["base"] == "debian"
    assert all(answer.startswith("/work/") for answer in ours["answer"])
    for file in ("instruction.md", "solution/solve.sh", "tests/test.sh", "rehearsal.toml"):
        assert (TASKS / name / file).is_file()


def test_an_untouched_work_folder_earns_nothing(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    assert stage.verify() == "0", stage.output


def test_the_solution_earns_the_reward_and_leaves_the_answer(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    assert not stage.run("/bin/sh", "/solution/solve.sh")
    assert stage.verify() == "1", stage.output
    settings = tomllib.loads((task / "task.toml").read_text())
    for answer in settings["metadata"]["stanchion"]["answer"]:
        assert stage.host_path(answer).stat().st_size > 0


def test_tests_that_cannot_run_give_no_reward_instead_of_a_zero(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    stage.host_path("/tests/python3").write_text("#!/bin/sh\necho no python; exit 1\n")
    stage.host_path("/tests/python3").chmod(0o755)
    assert stage.verify(path=f"/tests:{HOST_PATH}") is None
    assert stage.output == "no python\n"


def test_a_test_file_that_does_not_load_gives_no_reward(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    stage.host_path("/tests/test_broken.py").write_text("import nothing_of_that_name\n")
    assert stage.verify() is None
    assert "No module named 'nothing_of_that_name'" in stage.output


def test_a_pytest_of_the_agents_own_does_not_grade(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    stage.host_path("/work/pytest.py").write_text("raise SystemExit(0)\n")
    stage.host_path("/work/conftest.py").write_text("raise SystemExit(0)\n")
    assert stage.verify() == "0", stage.output


def test_a_package_that_the_agent_broke_is_a_wrong_answer(tmp_path: Path) -> None:
    require_namespaces()
    stage = Stage(tmp_path, TASKS / "fix-bug")
    stage.host_path("/work/ledger/shares.py").unlink()
    assert stage.verify() == "0", stage.output


def test_the_rehearsal_script_solves_the_task(task: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, task)
    script = (task / "rehearsal.toml").read_text()
    outputs: list[str] = []
    with Rehearsal(tmp_path, script) as rehearsal:
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": (task / "instruction.md").read_text()}
        ]
        while (whole := joined(rehearsal.send(_request(messages)).body))["calls"]:
            assert whole["reasoning"]
            messages.append({"role": "assistant", "content": whole["text"]})
            for call in whole["calls"].values():
                outputs.append(_act(stage, call["name"], json.loads(call["text"])))
                messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": outputs[-1]}
                )
        turns = len(tomllib.loads(script)["turn"])
        assert whole["finish"] == ["stop"]
        assert [line["turn"] for line in rehearsal.witnessed()] == list(range(turns))
    assert stage.verify() == "1", (outputs, stage.output)
    if task.name == "fix-bug":
        assert turns == 6
        assert "1 failed, 3 passed" in outputs[0]
        assert "4 passed" in outputs[3]


def _request(messages: list[dict[str, Any]]) -> bytes:
    tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
    return json.dumps({"model": "m", "messages": messages, "tools": tools, "stream": True}).encode()


def _act(stage: Stage, name: str, arguments: dict[str, str]) -> str:
    """Do a tool call whose arguments are named as OpenCode's tools name them."""
    if name == "bash":
        assert arguments["description"]
        return stage.run("/bin/sh", "-c", arguments["command"])
    path = stage.host_path(arguments["filePath"])
    before = path.read_text()
    if name == "edit":
        assert before.count(arguments["oldString"]) == 1
        path.write_text(before.replace(arguments["oldString"], arguments["newString"]))
        return "Edit applied successfully."
    assert name == "read"
    return before
