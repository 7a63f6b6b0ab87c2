import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from fakes.attempt import Attempt, lay_out
from stanchion.protocol.events import Event, OutputWritten, VerifierEnded, Warned
from stanchion.protocol.evidence import VerifierRun, WaitStatus
from stanchion.protocol.launch import Deadlines
from stanchion.protocol.outcome import Grade, read_reward
from stanchion.supervisor.clock import SystemClock
from stanchion.supervisor.launch_files import load
from stanchion.supervisor.verify import MOST_OUTPUT_BYTES, verify


async def run(
    attempt: Attempt, cancelled: asyncio.Event | None = None
) -> tuple[VerifierRun, list[Event]]:
    events: list[Event] = []
    attempt.workdir.mkdir(exist_ok=True)
    spec = load(attempt.paths).frozen.spec
    done = await verify(
        spec, attempt.paths, events.append, SystemClock(), cancelled or asyncio.Event()
    )
    return done, events


def script(tmp_path: Path, text: str, **changes: Any) -> Attempt:
    return lay_out(tmp_path, test_script=text, **changes)


async def test_the_tests_run_in_the_workdir_with_their_own_environment(tmp_path: Path) -> None:
    attempt = script(tmp_path, 'pwd; echo "$HOME|$LOGS|${ANSWER-unset}"; id -u; exit 4')
    done, events = await run(attempt)
    assert done.wait == WaitStatus(exit_code=4)
    assert (done.reward_text, done.reward_file, done.timed_out) == (None, None, False)
    output = b"".join(e.data for e in events if isinstance(e, OutputWritten)).decode()
    logs = attempt.paths.logs_dir
    assert output == f"{attempt.workdir}\n{tmp_path}/home|{logs}|unset\n{os.geteuid()}\n"
    assert [e.run for e in events if isinstance(e, VerifierEnded)] == [done]


async def test_a_json_reward_goes_before_a_text_one(tmp_path: Path) -> None:
    both = 'cd "$LOGS/verifier"; echo 1 > reward.txt; echo \'{"reward": 0.5}\' > reward.json'
    done, _ = await run(script(tmp_path, both))
    assert (done.reward_file, done.reward_text) == ("reward.json", '{"reward": 0.5}\n')


@pytest.mark.parametrize(
    "reward",
    ['ln -s /etc/hostname "$LOGS/verifier/reward.txt"', 'mkfifo "$LOGS/verifier/reward.txt"',
     'head -c 65537 /dev/zero > "$LOGS/verifier/reward.txt"'],
)  # fmt: skip
async def test_a_reward_that_is_no_small_plain_file_is_named_and_not_read(
    tmp_path: Path, reward: str
) -> None:
    done, events = await run(script(tmp_path, reward))
    assert done.reward_text is None
    assert "reward.txt" in str(done.reward_error)
    assert read_reward(done).grade is Grade.BAD_REWARD
    assert [event.what for event in events if isinstance(event, Warned)] == ["reward"]


async def test_links_that_the_agent_left_are_removed_and_not_followed(tmp_path: Path) -> None:
    attempt = script(tmp_path, 'echo 1 > "$LOGS/verifier/reward.txt"')
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    attempt.paths.tests_dir.symlink_to(kept)
    attempt.paths.logs_dir.mkdir()
    (attempt.paths.logs_dir / "verifier").symlink_to(kept)
    done, _ = await run(attempt)
    assert done.reward_text == "1\n"
    assert [entry.name for entry in kept.iterdir()] == ["file"]


async def test_a_json_reward_that_cannot_be_read_is_not_replaced_by_a_text_one(
    tmp_path: Path,
) -> None:
    text = 'cd "$LOGS/verifier"; echo 1 > reward.txt; ln -s reward.txt reward.json'
    done, _ = await run(script(tmp_path, text))
    assert (done.reward_file, done.reward_text) == ("reward.json", None)
    assert read_reward(done).grade is Grade.BAD_REWARD


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("exit 0", Grade.NO_REWARD),
        ("exit 4", Grade.VERIFIER_ERROR),
        ("kill -9 $$", Grade.VERIFIER_ERROR),
        ("#!/nowhere/python\n", Grade.VERIFIER_ERROR),
        ('echo 1 > "$LOGS/verifier/reward.txt"; exit 4', Grade.GRADED),
        ('echo one > "$LOGS/verifier/reward.txt"', Grade.BAD_REWARD),
        ('echo 1 > "$LOGS/verifier/reward.txt"; kill -9 $$', Grade.GRADED),
    ],
)
async def test_how_the_tests_end_gives_the_grade(tmp_path: Path, text: str, grade: Grade) -> None:
    done, _ = await run(script(tmp_path, text))
    graded = read_reward(done)
    assert graded.grade is grade, graded.why


async def test_the_first_line_of_the_script_says_who_runs_it(tmp_path: Path) -> None:
    text = f"#!{sys.executable}\nimport sys; print(sys.version_info.major)\n"
    _, events = await run(script(tmp_path, text))
    assert b"".join(e.data for e in events if isinstance(e, OutputWritten)) == b"3\n"


async def test_what_the_agent_published_is_still_there_after_the_tests(tmp_path: Path) -> None:
    attempt = script(tmp_path, 'ls "$LOGS/artifacts"; ls "$LOGS/verifier"')
    for name in ("artifacts", "verifier"):
        (attempt.paths.logs_dir / name).mkdir(parents=True)
        (attempt.paths.logs_dir / name / f"of-{name}").touch()
    _, events = await run(attempt)
    output = b"".join(e.data for e in events if isinstance(e, OutputWritten))
    assert output == b"of-artifacts\n"


async def test_a_log_folder_that_is_a_link_is_replaced(tmp_path: Path) -> None:
    attempt = script(tmp_path, 'echo 1 > "$LOGS/verifier/reward.txt"')
    kept = tmp_path / "kept"
    (kept / "verifier").mkdir(parents=True)
    (kept / "verifier" / "file").touch()
    attempt.paths.logs_dir.symlink_to(kept)
    done, _ = await run(attempt)
    assert done.reward_text == "1\n"
    assert [path.name for path in (kept / "verifier").iterdir()] == ["file"]


async def test_a_task_without_tests_is_the_verifiers_error(tmp_path: Path) -> None:
    done, events = await run(lay_out(tmp_path, test_script=None))
    assert "tests/test.sh" in str(done.error)
    assert read_reward(done).grade is Grade.VERIFIER_ERROR
    assert [event.what for event in events if isinstance(event, Warned)] == ["verifier"]


async def test_tests_that_cannot_be_laid_out_are_the_verifiers_error(tmp_path: Path) -> None:
    attempt = script(tmp_path, "exit 0")
    os.mkfifo(attempt.paths.tests_source / "pipe")
    done, events = await run(attempt)
    assert read_reward(done).grade is Grade.VERIFIER_ERROR
    assert [event.what for event in events if isinstance(event, Warned)] == ["verifier"]


async def test_the_deadline_ends_everything_the_tests_started(tmp_path: Path) -> None:
    attempt = script(
        tmp_path, "sleep 300 & echo $!; sleep 300", deadlines=Deadlines(agent_s=9, verifier_s=1)
    )
    done, events = await run(attempt)
    assert (done.timed_out, done.wait) == (True, None)
    (output,) = [event.data for event in events if isinstance(event, OutputWritten)]
    assert int(output) not in psutil.pids()


async def test_a_cancellation_ends_them_and_is_no_deadline(tmp_path: Path) -> None:
    cancelled = asyncio.Event()
    cancelled.set()
    done, _ = await run(script(tmp_path, "sleep 300"), cancelled)
    assert (done.timed_out, done.wait) == (False, None)


async def test_endless_output_is_read_and_left_out_beyond_a_bound(tmp_path: Path) -> None:
    attempt = script(
        tmp_path, f'yes | head -c {MOST_OUTPUT_BYTES * 2}; echo 1 > "$LOGS/verifier/reward.txt"'
    )
    done, events = await run(attempt)
    assert done.reward_text == "1\n"
    sent = sum(len(event.data) for event in events if isinstance(event, OutputWritten))
    assert MOST_OUTPUT_BYTES <= sent < MOST_OUTPUT_BYTES + 1_000_000
    assert [event.what for event in events if isinstance(event, Warned)] == ["verifier_output"]


async def test_a_workdir_that_the_agent_removed_does_not_keep_the_tests_from_running(
    tmp_path: Path,
) -> None:
    attempt = script(tmp_path, 'rmdir "$WORK" 2>/dev/null; pwd')
    spec = load(attempt.paths).frozen.spec
    events: list[Event] = []
    await verify(spec, attempt.paths, events.append, SystemClock(), asyncio.Event())
    assert b"".join(e.data for e in events if isinstance(e, OutputWritten)) == b"/\n"
