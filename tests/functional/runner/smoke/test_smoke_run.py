"""Smoke runs end to end: with a harness that asks no model nothing is on the wire, so nothing is
tested, and what was found is signed all the same; a program of the user's own is held to it all."""

import hashlib
import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from stanchion.broker.client import StatePaths
from stanchion.broker.receipts.job_chain import VerifiedJob, verify_job
from stanchion.images.bundle import Bundle
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.launch import SandboxKind
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.results.job_folder import read_results
from stanchion.runner.sandbox.process_powers import find_powers
from stanchion.runner.screen.job_view import JobView
from stanchion.runner.smoke.judging import Holds, Property
from stanchion.runner.smoke.matrix import Combination
from stanchion.runner.smoke.report import exit_code
from stanchion.runner.smoke.smoke_run import SmokeRequest, run_smoke
from stanchion.runner.smoke.two_tasks import TASKS

pytestmark = pytest.mark.timeout(180)

NOOP = Combination(harness="noop", model="rehearsal/scripted-1")
TINY = Path(__file__).parents[4] / "examples" / "own-program" / "agent.toml"
OWN = Combination(
    harness="command",
    command=str(TINY),
    model="rehearsal/future-9",
    effort="max",
    output_limit=128_000,
)
NOBODY = Combination(harness="noop", model="nobody/m")


@pytest.fixture
def state(paths: StatePaths, cache_dir: Path, bundle: Bundle) -> Path:
    powers = find_powers()
    if powers.why_not is not None:
        pytest.skip(f"no attempt can run as a process here: {powers.why_not}")
    paths.root.mkdir()
    paths.cache_dir.symlink_to(cache_dir)
    return paths.root


def request(state: Path, folder: Path, *combinations: Combination) -> SmokeRequest:
    return SmokeRequest(
        combinations=combinations,
        sandbox=SandboxKind.PROCESS,
        state_dir=str(state),
        folder=folder,
    )


def view(said: io.StringIO) -> JobView:
    return JobView(Console(file=said), planned=2, lines=True, on_screen=False)


def signed(folder: Path) -> dict[str, str]:
    found = verify_job((folder / "job.receipts").read_bytes())
    assert isinstance(found, VerifiedJob)
    assert found.closing is not None
    return found.closing.reports


async def test_both_tasks_run_and_the_report_is_signed_with_their_list(
    state: Path, tmp_path: Path
) -> None:
    said, folder = io.StringIO(), tmp_path / "out"

    end = await run_smoke(request(state, folder, NOOP), view(said))

    (found,) = end.reports
    assert [task.task for task in found.tasks] == [task.name for task in TASKS]
    assert {task.verdict for task in found.tasks} == {"verified"}
    assert set(found.properties.values()) == {Holds.UNEXERCISED}
    assert found.problems == tuple(
        f"{task.name}: it ended completed, and no response was completed" for task in TASKS
    )
    assert exit_code(found) is ExitCode.FAILED, "a run that tested nothing has not passed"
    assert len(read_results(folder)) == 2
    assert signed(folder) == {
        "smoke.json": hashlib.sha256((folder / "smoke.json").read_bytes()).hexdigest()
    }
    assert "smoke     noop rehearsal/scripted-1" in said.getvalue()


async def test_of_several_one_that_is_refused_is_a_row_and_the_others_run(
    state: Path, tmp_path: Path
) -> None:
    end = await run_smoke(request(state, tmp_path, NOBODY, NOOP), view(io.StringIO()))

    refused, ran = end.reports
    assert (refused.tasks, len(ran.tasks)) == ((), 2)
    assert "nobody" in refused.problems[0]
    assert signed(tmp_path / "02-noop-rehearsal-scripted-1")
    assert (tmp_path / "matrix.json").exists()


async def test_a_single_one_that_is_refused_leaves_nothing_behind(
    state: Path, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="account"):
        await run_smoke(request(state, tmp_path / "out", NOBODY), view(io.StringIO()))
    assert not (tmp_path / "out").exists()


async def test_a_program_of_ones_own_is_held_to_every_property(state: Path, tmp_path: Path) -> None:
    end = await run_smoke(request(state, tmp_path / "out", OWN), view(io.StringIO()))

    (found,) = end.reports
    assert found.harness == "command@tiny-agent-1"
    assert found.asked["command"] == str(TINY)
    assert found.properties == dict.fromkeys(Property, Holds.PASSED)
    assert exit_code(found) is ExitCode.OK
    assert signed(tmp_path / "out")


def silent(folder: Path, **changes: str) -> Combination:
    """The example, which here is never told an effort."""
    text = TINY.read_text().replace('["--effort", "{{effort}}"],', "")
    text = text.replace('program = "program"', f'program = "{TINY.parent}/program"')
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "agent.toml").write_text(text)
    return msgspec.structs.replace(OWN, command=str(folder / "agent.toml"))


async def test_an_effort_that_it_cannot_say_is_written_by_the_broker_and_holds(
    state: Path, tmp_path: Path
) -> None:
    one = silent(tmp_path, **{'cannot_say = ["': 'cannot_say = ["effort", "'})
    end = await run_smoke(request(state, tmp_path / "out", one), view(io.StringIO()))

    (found,) = end.reports
    assert found.properties[Property.EFFORT] is Holds.PASSED
    for result in read_results(tmp_path / "out"):
        effort = result.effort
        assert (effort.requested, effort.written, effort.observed) == ("max", None, ("max",))


async def test_one_that_never_says_the_effort_is_refused_by_name_before_it_starts(
    state: Path, tmp_path: Path
) -> None:
    one = silent(tmp_path)
    with pytest.raises(RefusedError, match="effort"):
        await run_smoke(request(state, tmp_path / "out", one), view(io.StringIO()))
