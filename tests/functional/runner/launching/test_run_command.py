"""Which profile, broker and folder a run gets; refused before anything is fetched or started."""

from pathlib import Path

import pytest

from fakes.small_tasks import small_task
from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import Request, prepare, read_runnable
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import Task

pytestmark = pytest.mark.timeout(60)
ACCOUNT = """
[profiles.NAME.accounts.local]
api = "openai_chat"
base_url = "http://127.0.0.1:9/v1"
credential = "none"
allow_plain_http = true
"""
HELLO = example_task("hello")


def request(paths: StatePaths, folder: Path, *profiles: str, **changes: object) -> Request:
    file = folder / "stanchion.toml"
    tables = "".join(ACCOUNT.replace("NAME", name) for name in profiles)
    file.write_text(f"version = 1\n{tables}")
    options = Options(harness="opencode", account="local", model="m", harness_version="0.0.1")
    fields: dict[str, object] = {
        "task": HELLO,
        "options": options,
        "config": str(file),
        "state_dir": str(paths.root),
    }
    return Request(**(fields | changes))  # type: ignore[arg-type]


async def refusal(wanted: Request) -> str:
    with pytest.raises(RefusedError) as refused:
        await prepare(wanted, print)
    return refused.value.refusal.id


async def test_a_profile_may_be_left_out_where_one_has_the_account(
    paths: StatePaths, tmp_path: Path
) -> None:
    # The version is refused only after the profile has been found.
    assert await refusal(request(paths, tmp_path, "one")) == "harness_version_unknown"


async def test_two_profiles_with_the_account_must_be_told_apart(
    paths: StatePaths, tmp_path: Path
) -> None:
    assert await refusal(request(paths, tmp_path, "one", "two")) == "profile_unclear"
    named = request(paths, tmp_path, "one", "two", profile="two")
    assert await refusal(named) == "harness_version_unknown"


async def test_an_account_that_nobody_has_is_named(paths: StatePaths, tmp_path: Path) -> None:
    options = Options(harness="opencode", account="nobody", model="m")
    assert await refusal(request(paths, tmp_path, "one", options=options)) == "account_missing"


async def test_a_profile_that_is_not_there_is_named(paths: StatePaths, tmp_path: Path) -> None:
    assert await refusal(request(paths, tmp_path, "one", profile="x")) == "profile_unknown"


async def test_a_rehearsal_needs_a_script(paths: StatePaths, tmp_path: Path) -> None:
    task = tmp_path / "task"
    (task / "tests").mkdir(parents=True)
    for name in ("task.toml", "instruction.md", "tests/test.sh"):
        (task / name).write_text("")
    options = Options(harness="opencode", account="rehearsal", model="m")
    wanted = request(paths, tmp_path, "one", task=task, options=options)

    assert await refusal(wanted) == "rehearsal_missing"
    assert not paths.root.exists()


async def test_an_unknown_harness_starts_no_broker(paths: StatePaths, tmp_path: Path) -> None:
    options = Options(harness="nosuch", account="local", model="m")

    assert await refusal(request(paths, tmp_path, "one", options=options)) == "harness_unknown"
    assert not paths.root.exists()


def read(task: Path, harness: str, **options: str) -> Task:
    wanted = Options(harness=harness, account="rehearsal", model="m", **options)  # type: ignore[arg-type]
    return read_runnable(Request(task=task, options=wanted))


def test_a_rehearsal_is_needed_only_by_a_harness_that_asks_a_model(tmp_path: Path) -> None:
    task = small_task(tmp_path / "t", tests="true")
    assert read(task, "oracle").name == read(task, "noop").name == "t"
    with pytest.raises(RefusedError) as refused:
        read(task, "opencode")
    assert refused.value.refusal.id == "rehearsal_missing"


def test_the_oracle_needs_a_solution(tmp_path: Path) -> None:
    task = small_task(tmp_path / "t", tests="true", solve=None)
    assert read(task, "noop").name == "t"
    with pytest.raises(RefusedError) as refused:
        read(task, "oracle")
    assert refused.value.refusal.id == "solution_missing"


def test_only_the_oracle_reads_the_solutions_variables(tmp_path: Path) -> None:
    toml = '[solution.env]\nA = "${STANCHION_TEST_NOT_SET}"\n'
    task = small_task(tmp_path / "t", tests="true", toml=toml)
    assert read(task, "noop").config.solution_env == {}
    with pytest.raises(RefusedError, match=r"solution\.env\.A"):
        read(task, "oracle")


def test_a_given_image_stands_in_for_the_tasks_own(tmp_path: Path) -> None:
    toml = '[environment]\ndocker_image = "acme/tools:1"\n'
    task = small_task(tmp_path / "t", tests="true", toml=toml)
    assert "acme/tools:1" in read(task, "noop", image="./root").config.notes["image.verified"]
    with pytest.raises(RefusedError, match="--image DIR"):
        read(task, "noop")
