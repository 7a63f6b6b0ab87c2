"""Errors a newcomer meets, through the real command: one sentence, a next command, a code."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.command_words import resolves
from fakes.other_user import hello_task, other_user
from functional.broker.live import LiveBroker, live_broker
from stanchion.images.host import default_cache_dir

pytestmark = pytest.mark.timeout(240)

ANY_PORT = "stanchion rehearse --port 0"
LIVE = ("--state-dir", "live/state")
"""The state folder of the broker that runs during these tests."""
OF_LAB = ("--harness", "opencode", "--model", "lab/m")
PROXY = '1\n[broker]\negress_proxy = "http://'
RUN = ("run", "task", "--harness", "opencode", *LIVE)
HELLO = (*RUN, "--model", "lab/m")
NAMED = re.compile(r"`?(stanchion [a-z][^`.,;]*)")

CONFIG = """
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "none"
[profiles.evals.accounts.shared]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "env:SHARED_KEY"
[profiles.evals.accounts.keyless]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "file:absent"
[profiles.evals.accounts.exposed]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "file:exposed"
[profiles.evals.accounts.unset]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "env:NO_SUCH_KEY"
[profiles.other.accounts.shared]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "none"
"""
ACCOUNT = """
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "https://api.example.com/v1"
credential = "file:key"
"""
SET = "stanchion key set evals/{}"
TASK = '[metadata.stanchion]\nbase = "debian"\n'


@dataclass(frozen=True)
class Case:
    """One wrong command."""

    name: str
    """What the newcomer did."""
    words: tuple[str, ...]
    said: str
    """A part of the sentence."""
    code: int = 2
    after_others: bool = False
    """Whether notes and progress come first."""
    env: dict[str, str] = field(default_factory=dict)
    next: str | None = None
    """The command it has to show, where that is known."""


CONFIGS = {
    "broken-toml": ("version = 1\nprofiles = [\n[x]\n", "line 3"),
    "unknown-key": (ACCOUNT + "sekret = 1\n", "sekret"),
    "user-in-url": (ACCOUNT.replace("//api", "//me:hunter2@api"), "no user, query or fragment"),
    "plain-http": (ACCOUNT.replace("https", "http"), "allow_plain_http = true"),
    "http-by-proxy": (
        ACCOUNT.replace("https", "http").replace(
            "1\n", '1\n[broker]\negress_proxy = "http://p:1"\n', 1
        )
        + "allow_plain_http = true\n",
        "carries https only",
    ),
    "proxy-password": (
        'version = 1\n[broker]\negress_proxy = "http://u:hunter2@p:1"\n',
        "password",
    ),
    "no-ca": (ACCOUNT.replace("1\n", '1\n[broker]\nca_bundle = "absent.pem"\n', 1), "absent.pem"),
    "key-in-config": (ACCOUNT.replace("file:key", "sk-CANARY-0123"), "env:NAME, file:PATH or none"),
}
SERVED = ("no-ca", "key-in-config")
"""What a file's text does not show: said when the broker starts."""


def config_cases() -> Iterator[Case]:
    for name, (_, said) in CONFIGS.items():
        serve = ("broker", "serve", "--state-dir", f"of-{name}")  # its own: each takes its lock
        words = serve if name in SERVED else ("broker", "check")
        yield Case(name, (*words, "--config", f"{name}.toml"), said)


OWN = ("--state-dir", "own")

CASES = [
    *config_cases(),
    Case("unknown command", ("rum",), "No such command"),
    Case("unknown option", (*HELLO, "--efort", "max"), "--efort", next="stanchion run --help"),
    Case("no model named", ("run", "--harness", "opencode"), "--model"),
    Case("missing task folder", ("run", "absent", "--harness", "opencode"), "absent"),
    Case("model without an account", (*RUN, "--model", "m"), "ACCOUNT/MODEL"),
    Case("no such account", (*RUN, "--model", "nobody/m"), "has an account nobody"),
    Case("unknown profile", (*HELLO, "--profile", "nope"), "evals, other"),
    Case("key-missing", (*RUN, "--model", "keyless/m"), "mode 0600", next=SET.format("keyless")),
    Case("key-exposed", (*RUN, "--model", "exposed/m"), "chmod 600", next=SET.format("exposed")),
    Case("env-missing", (*RUN, "--model", "unset/m"), "Export NO_SUCH_KEY"),
    Case("account of several profiles", (*RUN, "--model", "shared/m"), "evals, other"),
    Case("tag for a digest", (*HELLO, "--image", "debian:12"), "a tag may mean other"),
    Case("unknown effort", (*HELLO, "--effort", "hihg"), "none, minimal, low, medium, high"),
    Case("negative limit", (*HELLO, "--output-limit", "-5"), "whole number of tokens"),
    Case("limit with a k", (*HELLO, "--output-limit", "128k"), "such as 131072"),
    Case(
        "limit above the context",
        (*HELLO, "--output-limit", "200000", "--context", "65536"),
        "65536 tokens",
    ),
    Case("unknown harness", (*HELLO, "--harness", "opncode"), "opencode"),
    Case("unknown version", (*HELLO, "--harness", "opencode@9.9.9"), "1.18.33"),
    Case("rehearsal without a script", (*RUN, "--model", "rehearsal/m"), "rehearsal.toml"),
    Case("unsupported task field", ("run", "gpus", *OF_LAB), "GPU"),
    Case("task that is not TOML", ("run", "untoml", *OF_LAB), "line 1"),
    Case("taken folder", (*HELLO, "-o", "taken"), "holds results", after_others=True),
    Case("no runsc", HELLO, "apt-get", 1, after_others=True, env={"PATH": "/none"}),
    Case("second broker", ("broker", "serve", *LIVE), "one broker at a time"),
    Case("no broker", ("broker", "status", *OWN), "no broker answers", 5),
    Case("no public key", ("broker", "key", "--state-dir", "new"), "first start", 1),
    Case("read-only state", ("broker", "serve", "--state-dir", "/proc/none"), "/proc/none"),
    Case("no configuration", ("broker", "check", "--config", "absent.toml"), "absent.toml"),
    Case("init over a file", ("init", "--path", "stanchion.toml"), "never changes one"),
    Case("key without a slash", ("key", "set", "lab"), "evals/lab"),
    Case("key of an env account", ("key", "set", "evals/shared"), "Export SHARED_KEY"),
    Case("key of an account without", ("key", "set", "evals/lab"), "file:keys/evals-lab"),
    Case("empty key", ("key", "set", "evals/keyless"), "printable"),
    Case("port in use", ("rehearse", "--port", "{port}"), "in use", next=ANY_PORT),
    Case("broken script", ("rehearse", "--script", "untoml/task.toml"), "TOML"),
    Case("unknown requirement", ("audit", "taken", "--require", "efort=max"), "effort"),
    Case("nothing to audit", ("audit", "empty"), "receipts.bundle"),
    Case("no run of this id", ("show", "7f3a90c41b22", *LIVE), "7f3a90c41b22"),
    Case("no such result", ("show", "empty"), "result.json"),
]  # fmt: skip


class Site:
    """A folder of a newcomer's, a running broker, and every case run once, two at a time."""

    def __init__(self, root: Path, broker: LiveBroker, port: int, pool: ThreadPoolExecutor) -> None:
        self.root, self.broker, self.port = root, broker, port
        self._done: dict[str, Future[subprocess.CompletedProcess[str]]] = {
            case.name: pool.submit(self.run, case) for case in CASES
        }

    def result(self, case: Case) -> subprocess.CompletedProcess[str]:
        return self._done[case.name].result()

    def run(self, case: Case, *more: str) -> subprocess.CompletedProcess[str]:
        words = [word.format(port=self.port) for word in (*case.words, *more)]
        return subprocess.run(
            [sys.executable, "-m", "stanchion.runner", *words],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root),
                "STANCHION_STATE": str(self.root / "own"),
                "NO_COLOR": "1",
                **case.env,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def furnish(root: Path) -> None:
    """The newcomer's files."""
    (root / "stanchion.toml").write_text(CONFIG)
    for name, (text, _) in CONFIGS.items():
        (root / f"{name}.toml").write_text(text)
    for name, mode in (("key", 0o600), ("exposed", 0o644)):
        (root / name).write_text("sk-CANARY-0123456789\n")
        (root / name).chmod(mode)
    for name, text in (
        ("task", TASK),
        ("gpus", f"{TASK}[environment]\ngpus = 2\n"),
        ("untoml", "= \n"),
    ):
        (root / name / "tests").mkdir(parents=True)
        (root / name / "task.toml").write_text(text)
        (root / name / "instruction.md").write_text("Write hello.\n")
        (root / name / "tests" / "test.sh").write_text("true\n")
    (root / "empty").mkdir()
    (root / "taken" / "attempts" / "a__1").mkdir(parents=True)
    (root / "taken" / "attempts" / "a__1" / "receipts.bundle").write_bytes(b"{}\n")
    (root / "own").mkdir()
    (root / "live" / "state").mkdir(parents=True)
    (root / "live" / "state" / "cache").symlink_to(default_cache_dir())


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with (
        tempfile.TemporaryDirectory(prefix="st") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        root = Path(folder)
        furnish(root)
        config = ("--config", str(root / "stanchion.toml"))
        with live_broker(root / "live", *config, env={"SHARED_KEY": "sk-x"}) as broker:
            port = listener.getsockname()[1]
            with ThreadPoolExecutor(max_workers=2) as pool:
                yield Site(root, broker, port, pool)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_an_error_is_a_sentence_a_next_command_and_a_code(site: Site, case: Case) -> None:
    done = site.result(case)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == case.code, done.stderr
    assert done.stdout == ""
    lines = last_words(done.stderr, after_others=case.after_others)
    assert re.search(case.said, lines[0]), lines[0]
    assert "hunter2" not in done.stderr
    assert "CANARY" not in done.stderr
    shown = next_commands(lines)
    assert shown, done.stderr
    assert [command for command in shown if not resolves(command)] == []
    if case.next is not None:
        assert case.next in shown


def last_words(stderr: str, *, after_others: bool = False) -> list[str]:
    """The sentence and the next command."""
    lines = stderr.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith("error: ")), len(lines))
    assert after_others or at == 0, stderr
    said = lines[at:]
    assert [line.split(":")[0] for line in said] in (["error"], ["error", "next"]), stderr
    return said


def next_commands(lines: list[str]) -> list[str]:
    """The line for it, else what the sentence itself names."""
    if len(lines) > 1:
        return [lines[1].removeprefix("next:").strip()]
    return [match[1].strip() for match in NAMED.finditer(lines[0])]


def test_with_json_the_one_document_is_the_error(site: Site) -> None:
    for name, error_id in (
        ("unknown effort", "effort_unknown"),
        ("limit with a k", "usage"),
        ("broken-toml", "config_invalid"),
    ):
        case = next(case for case in CASES if case.name == name)
        done = site.run(case, "--json")
        error = json.loads(done.stdout)["error"]
        assert (error["id"], done.returncode) == (error_id, case.code)
        assert resolves(error["next"])
        assert done.stderr.startswith("error: ")


def test_a_tampered_bundle_is_no_error_but_a_verdict(site: Site) -> None:
    done = site.run(Case("tampered", ("audit", "taken"), ""))
    assert done.returncode == 4
    assert "TAMPERED" in done.stdout.upper()
    assert "Traceback" not in done.stdout + done.stderr


def test_without_root_the_way_out_is_named() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can start a command as somebody else")
    with other_user(default_cache_dir()) as user:
        if user is None:
            pytest.skip("no Python of this machine's runs as an unprivileged user")
        task = hello_task(user.home, "true")
        done = user.stanchion(
            "run", task, "--harness", "opencode", "--model", "rehearsal/m", "-o", user.home / "o"
        )
    assert done.returncode == 1
    said = last_words(done.stderr.decode(), after_others=True)
    assert "need root" in said[0]
    assert said[1] == "next:  sudo stanchion doctor"
