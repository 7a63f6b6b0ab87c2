"""What the tests of a task can do, and what is made of it: every grade from a real verifier.

Where the agent's own end matters it is the real OpenCode; elsewhere the task's solution runs.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fakes.small_tasks import GIVES_ONE, OPENCODE, ORACLE, QUIET, Stanchion, small_task
from stanchion.images.rootfs import BaseImage
from stanchion.protocol.evidence import AnswerState

pytestmark = [pytest.mark.usefixtures("opencode"), pytest.mark.acceptance, pytest.mark.timeout(300)]

ANSWERED = QUIET + '[metadata.stanchion]\nanswer = ["/work/answer.txt"]\n'
GRADES = "test -s /work/answer.txt; echo $((1 - $?)) > /logs/verifier/reward.txt\n"
SERVES = """\
mkfifo /tmp/said
python3 -u -m http.server --bind 127.0.0.1 8000 > /tmp/said & served=$!
exec 3< /tmp/said
read -r _ <&3  # it says that it listens
python3 - <<'END'
import socket, urllib.request
def refused():
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", 8001)) != 0
assert refused() and refused()
urllib.request.urlopen("http://localhost:8000/").read()
END
kill $served
echo 0 > /logs/verifier/reward.txt
"""
FETCHES = "git clone -q https://example.com/tool.git /tmp/tool"
CONNECTS = "import socket; socket.create_connection(('192.0.2.7', 443), 5)"
LOCKED_UP = "sleep 600 & sleep 600"
SCRIPT = """\
version = 1
[[turn]]
reasoning = "The file first."
[[turn.tool]]
name = "bash"
arguments = {{ command = "{first}", description = "do it" }}
[[turn]]
text = "Then the rest."
[[turn.tool]]
name = "bash"
arguments = {{ command = "{second}", description = "go on" }}
[[turn]]
text = "All is done."
"""


@pytest.fixture
def stanchion(state: Path, tmp_path: Path) -> Stanchion:
    return Stanchion(tmp_path, state)


@pytest.mark.parametrize(
    ("tests", "grade", "words"),
    [
        pytest.param(GIVES_ONE, "graded", None, id="rewarded"),
        pytest.param(f"{GIVES_ONE}exit 7", "graded", None, id="rewarded, exit 7"),
        pytest.param(SERVES, "graded", None, id="local servers, no credit"),
        pytest.param("true", "no_reward", "exited with 0", id="no reward"),
        pytest.param("exit 3", "verifier_error", "exited with 3", id="crash"),
        pytest.param("kill -SEGV $$", "verifier_error", "signal 11", id="killed"),
        pytest.param("#!/no/such/shell\n", "verifier_error", "executing", id="no interpreter"),
        pytest.param("kill -9 1", "verifier_error", "could not be run", id="kills its shim"),
        pytest.param(LOCKED_UP, "verifier_timeout", "in time", id="hang"),
        pytest.param(
            f"{GIVES_ONE}{LOCKED_UP}", "verifier_timeout", "in time", id="hang after a reward"
        ),
        pytest.param(
            "echo good > /logs/verifier/reward.txt", "bad_reward", "reward.txt", id="no number"
        ),
        pytest.param(
            "ln -s /etc/hostname /logs/verifier/reward.txt", "bad_reward", "reward.txt", id="link"
        ),
        pytest.param(
            f'{GIVES_ONE}echo "{{}}" > /logs/verifier/reward.json',
            "bad_reward", "reward.json", id="an empty reward.json beside a reward.txt",
        ),
        pytest.param(
            f"{FETCHES} || exit 2", "verifier_network", "name queries", id="fetch fails"
        ),
        pytest.param(
            f"{FETCHES} || echo 0 > /logs/verifier/reward.txt",
            "verifier_network", "name queries", id="fetch fails, 0 written",
        ),
        pytest.param(
            f'python3 -c "{CONNECTS}"', "verifier_network", "1 connects", id="address"
        ),
        pytest.param(f"{FETCHES}\n{GIVES_ONE}", "graded", None, id="fetch fails, credit"),
    ],
)  # fmt: skip
def test_what_the_verifier_did_is_the_grade(
    stanchion: Stanchion, tmp_path: Path, tests: str, grade: str, words: str | None
) -> None:
    toml = f"{QUIET}[verifier]\ntimeout_sec = {4 if LOCKED_UP in tests else 60}\n"
    task = small_task(tmp_path / "t", tests=tests, toml=toml)
    result = stanchion.run(task, *ORACLE)

    assert result.grade == grade, result.why
    assert result.outcome.reason == "completed"
    assert (result.score is None) is (grade != "graded")
    if words is None:
        assert "grade" not in result.why
    else:
        assert words in result.why["grade"]


def test_a_cancelled_attempt_is_not_graded(stanchion: Stanchion, tmp_path: Path) -> None:
    task = small_task(tmp_path / "t", tests=GIVES_ONE, solve="sleep 600")
    result = stanchion.run(task, *ORACLE, "--timeout", "3")
    assert (result.outcome.reason, result.grade, result.score) == ("cancelled", "not_run", None)


def test_a_solution_that_fails_is_no_zero(stanchion: Stanchion, tmp_path: Path) -> None:
    task = small_task(tmp_path / "t", tests=GRADES, solve="exit 9", toml=ANSWERED)
    result = stanchion.run(task, *ORACLE)
    assert (result.outcome.reason, result.grade, result.score) == ("harness_exit", "graded", None)
    assert "9" in result.outcome.detail


def test_credit_is_what_lies_above_the_untouched_reward(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    scores = {}
    for untouched in ("0.2", "0.5"):
        toml = f"{QUIET}[metadata.stanchion]\nuntouched_reward = {untouched}\n"
        tests = "echo 0.5 > /logs/verifier/reward.txt"
        task = small_task(tmp_path / untouched, tests=tests, solve="exit 9", toml=toml)
        scores[untouched] = stanchion.run(task, *ORACLE).score
    assert scores == {"0.2": 0.5, "0.5": None}


def test_an_answer_written_before_a_crash_keeps_its_score(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    script = SCRIPT.format(first="echo 42 > /work/answer.txt", second="kill -9 $PPID; sleep 60")
    task = small_task(tmp_path / "t", tests=GRADES, toml=ANSWERED, rehearsal=script)
    result = stanchion.run(task, *OPENCODE)
    assert (result.outcome.reason, result.grade, result.score) == ("harness_signal", "graded", 1.0)
    assert [answer.state for answer in result.answers or ()] == [AnswerState.PRESENT]


def test_a_clean_run_without_the_answer_is_a_zero_that_counts(
    stanchion: Stanchion, tmp_path: Path
) -> None:
    script = SCRIPT.format(first="ls /work", second="true")
    task = small_task(tmp_path / "t", tests=GRADES, toml=ANSWERED, rehearsal=script)
    result = stanchion.run(task, *OPENCODE)
    assert (result.outcome.reason, result.grade, result.score) == ("completed", "graded", 0.0)
    assert "answer_absent" in result.outcome.flags
    assert [answer.state for answer in result.answers or ()] == [AnswerState.ABSENT]


def test_an_answer_that_is_gone_at_the_end_is_no_zero(stanchion: Stanchion, tmp_path: Path) -> None:
    script = SCRIPT.format(
        first="echo 42 > /work/answer.txt; sleep 12", second="rm /work/answer.txt"
    )
    task = small_task(tmp_path / "t", tests=GRADES, toml=ANSWERED, rehearsal=script)
    result = stanchion.run(task, *OPENCODE)
    assert (result.outcome.reason, result.grade, result.score) == ("answer_lost", "graded", None)
    assert [answer.state for answer in result.answers or ()] == [AnswerState.LOST]


def test_the_agent_never_sees_the_solution(stanchion: Stanchion, tmp_path: Path) -> None:
    looks = "ls -d /solution /run/stanchion/solution; grep -rl CANARY-5f[1] / --exclude-dir=proc"
    script = SCRIPT.format(first=f"({looks}) > /work/answer.txt 2>/dev/null", second="true")
    task = small_task(
        tmp_path / "t",
        tests="test ! -s /work/answer.txt && " + GIVES_ONE,
        solve="# CANARY-5f1",
        rehearsal=script,
    )
    assert stanchion.run(task, *OPENCODE).score == 1.0


@pytest.fixture
def image(base_image: BaseImage, tmp_path: Path) -> Path:
    """A root file system of one shell and its libraries."""
    root = tmp_path / "image"
    (root / "etc").mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nworker:x:1234:1234::/:/bin/sh\n")
    listed = subprocess.run(
        ["ldd", base_image.path / "usr/bin/dash"], capture_output=True, text=True, check=True
    )
    libraries = [word for word in listed.stdout.split() if word.startswith("/")]
    for name in ("/bin/dash", *libraries):
        target = root / name.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile((base_image.path / name.lstrip("/")).resolve(), target)
        target.chmod(0o755)
    (root / "bin/sh").symlink_to("dash")
    return root


def test_an_unpacked_root_file_system_is_run_by_its_digest(
    stanchion: Stanchion, tmp_path: Path, image: Path
) -> None:
    toml = (
        '[agent]\ntimeout_sec = 60\nuser = "worker"\n'
        '[environment]\nnetwork_mode = "none"\ndocker_image = "acme/tools:1"\n'
    )
    tests = "read answer < /work/answer.txt && test $answer = yes && " + GIVES_ONE
    task = small_task(tmp_path / "t", tests=tests, solve="echo yes > /work/answer.txt", toml=toml)
    before = sorted(path.relative_to(image) for path in image.rglob("*"))
    result = stanchion.run(task, *ORACLE, "--image", str(image))

    assert (result.grade, result.score) == ("graded", 1.0), result.why
    assert (result.image.requested, result.image.base) == (str(image), None)
    assert "acme/tools:1 is not pulled" in result.why["image.verified"]
    assert sorted(path.relative_to(image) for path in image.rglob("*")) == before
    verified = result.image.verified
    pinned = stanchion.run(task, *ORACLE, "--image", f"{image}@sha256:{verified}")
    assert (pinned.score, pinned.image.verified) == (1.0, verified)
    (image / "etc/motd").write_text("changed")
    code, output, errors = stanchion(
        "run", task, *ORACLE, "--image", f"{image}@sha256:{verified}", "--json"
    )
    assert (code, json.loads(output)["error"]["id"]) == (2, "image_differs"), errors


def test_a_new_task_is_right_as_it_is(stanchion: Stanchion, tmp_path: Path) -> None:
    code, _, errors = stanchion("task", "new", "mine")
    assert code == 0, errors
    code, output, errors = stanchion("task", "check", "mine")
    assert code == 0, errors
    assert output.decode().splitlines()[-1] == "task check: 1 task, 1 right"
    assert stanchion.run(tmp_path / "mine", *OPENCODE).score == 1.0


def test_a_task_that_cannot_say_no_is_found(stanchion: Stanchion, tmp_path: Path) -> None:
    small_task(tmp_path / "always", tests=GIVES_ONE)
    small_task(tmp_path / "gpu", tests=GIVES_ONE, toml="[environment]\ngpus = 1\n")
    code, output, _ = stanchion("task", "check", "always", "gpu", "--json")
    assert code == 1
    report = json.loads(output)
    always, gpu = report["tasks"]
    assert "doing nothing earned 1" in always["problems"][0]
    assert "gpu/task.toml:2, environment.gpus" in gpu["problems"][0]
    assert Path(always["nothing"]["folder"], "result.json").is_file()
    shutil.rmtree(report["folder"])
