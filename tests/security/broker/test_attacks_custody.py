"""Attacks 61, 62 and 64: keys that leak by accident, and accounts mixed up."""

import copy
import json
import logging
import os
import pickle
import socket
import subprocess
import sys
import traceback
from pathlib import Path

import msgspec
import pytest

from fakes.launches import KEY, order, spec
from fakes.raw_sink import ANSWER_BODY
from fakes.supervisor import Supervisor, ask
from fakes.upstream import Answer, response, say, sends, stream, upstream
from functional.broker.live import LiveBroker, command, enrolled, live_broker
from security.broker.raw_client import BODY, received
from stanchion.broker.secrets import Secret
from stanchion.broker.tasks import log_failure
from stanchion.protocol.control import Enrolled
from stanchion.protocol.exchange import ErrorClass
from stanchion.protocol.launch import ModelRef, Waits
from stanchion.protocol.receipt import ExchangeEnd
from stanchion.protocol.refusal import RefusedError

CANARY = "sk-CANARY-of-attack-61-0123456789"


# Attack 61: the key in a traceback, a repr, a log, a core file.


def test_attack_61_a_key_is_in_no_form_of_itself() -> None:
    key = Secret(CANARY)
    shown = [repr(key), str(key), f"{key}", f"{key!r}", f"{[key]}", f"{ {'k': key} }", format(key)]
    assert not any(CANARY[:12] in text for text in shown)
    for leak in (pickle.dumps, copy.deepcopy, msgspec.json.encode, json.dumps):
        with pytest.raises((TypeError, NotImplementedError)) as refused:
            leak(key)  # type: ignore[operator]
        assert CANARY[:12] not in str(refused.value)
    assert not hasattr(key, "__dict__")


def test_attack_61_a_traceback_shows_no_key() -> None:
    def handler(key: Secret) -> None:
        raise ValueError(f"with {key} and {key!r} in hand")

    try:
        handler(Secret(CANARY))
    except ValueError as error:
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        assert CANARY[:12] not in "".join(told.format())


def test_attack_61_what_fails_unexpectedly_is_logged_without_its_words(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("stanchion.broker"), "propagate", True)
    log_failure(RuntimeError(f"GET /?key={CANARY}"))
    assert "RuntimeError" in caplog.text
    assert CANARY[:12] not in caplog.text


PRIVATE = """
import ctypes, resource
from stanchion.broker.serve import keep_memory_private
keep_memory_private()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_attack_61_no_other_process_of_this_user_reads_the_brokers_memory() -> None:
    told = subprocess.run(
        [sys.executable, "-c", PRIVATE],
        capture_output=True,
        text=True,
        timeout=40,
        check=True,
    )
    assert told.stdout.strip() == "0 (0, 0)"


TROUBLE: list[Answer] = [
    response(401, f'{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}'.encode()),
    response(400, f"key={KEY}".encode(), content_type="text/html"),
    response(200, f'{{"error":{{"message":"{KEY}"}},"id":"{KEY}"}}'.encode()),
    response(302, b"", headers=[("location", f"http://127.0.0.1:1/?key={KEY}")]),
    response(200, ANSWER_BODY, headers=[("x-request-id", KEY), ("set-cookie", KEY)]),
    stream(say(f'{{"model":"{KEY}","choices":[{{"delta":{{"content":"{KEY}"}}}}]}}')),
    stream(f"{KEY}\n".encode(), say(KEY)),
    sends(f"HTTP/1.1 200 {KEY}\r\n\r\n{KEY}".encode()),
    sends(f"HTTP/1.1 2{KEY}\r\n\r\n".encode()),
    sends(f"{KEY}\r\n\r\n".encode()),
    sends(f"HTTP/1.1 200 OK\r\ncontent-length: {KEY}\r\n\r\n".encode()),
]


def assert_nothing_in_process(pid: int) -> None:
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert "Max core file size        0                    0" in limits
    for name in ("cmdline", "environ"):
        assert KEY.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()


def assert_nothing_in_files(root: Path) -> None:
    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


async def test_attack_61_whatever_goes_wrong_no_file_of_the_broker_holds_a_key(root: Path) -> None:
    with live_broker(root) as broker:
        for answer in TROUBLE:
            async with (
                upstream(answer) as provider,
                enrolled(broker, provider.port, waits=Waits(header_wait_s=0, max_wait_s=0)) as run,
            ):
                reply = await ask(run.directory, BODY, lease=run.lease)
                assert KEY.encode() not in reply.body
                assert KEY not in str(reply.headers)
                await run.supervisor.close()
                view = await broker.close(run.id)
                assert KEY not in str(view)
                assert KEY not in str(await broker.records(run.id))
        assert_nothing_in_process(broker.process.pid)
    assert_nothing_in_files(root)


# Attack 62: what a malformed request makes a server say or log.


async def test_attack_62_a_malformed_request_is_echoed_and_logged_nowhere(
    broker: LiveBroker,
) -> None:
    canary = b"CANARY-of-attack-62"
    async with enrolled(broker, 9) as run:
        lease = run.lease.encode()
        for place in (run.directory / "model.sock", broker.paths.admin_socket):
            for data in (
                b"POST / HTTP/1.1\r\nx-stanchion-lease: %b\r\n%b\r\n\r\n" % (lease, canary),
                b"POST / HTTP/1.1\r\nauthorization: Bearer %b\x00\r\n\r\n" % canary,
                b"POST / HTTP/1.1\r\nx-stanchion-lease : %b%b\r\n\r\n" % (lease, canary),
                b"%b / HTTP/1.1\r\nx-stanchion-lease: %b\r\n\r\n" % (canary, lease),
                b"GET /%b%b HTTP/9.9\r\n\r\n" % (canary, lease),
                b"\x16\x03\x01" + canary + lease + b"\r\n\r\n",
            ):
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(20)
                    client.connect(str(place))
                    client.sendall(data)
                    client.shutdown(socket.SHUT_WR)
                    answer = received(client)
                assert answer == b"" or answer.partition(b" ")[2].startswith(b"4")
                assert canary not in answer
                assert lease not in answer
    said = broker.paths.log_file.read_bytes() + broker.output.read_bytes()
    assert canary not in said
    assert run.lease.encode() not in said


# Attack 64: one environment's account in place of another's.

TWO = """
version = 1
[profiles.rich.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:key"
[profiles.poor.accounts.other]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "{credential}"
"""


def configured(root: Path, port: int, credential: str = "none") -> str:
    (root / "key").write_text(CANARY)
    (root / "key").chmod(0o600)
    (root / "stanchion.toml").write_text(TWO.format(port=port, credential=credential))
    return str(root / "stanchion.toml")


async def opened(broker: LiveBroker, profile: str, account: str) -> Supervisor:
    model = ModelRef(account=account, id="fx-coder-1")
    launch = msgspec.structs.replace(order(), spec=spec(profile=profile, model=model))
    launch = msgspec.structs.replace(launch, rehearsal=None, run=os.urandom(6).hex())
    async with broker.client() as client:
        run = await client.open_run(launch)
        ticket = await client.enrol(run.id)
    supervisor = Supervisor(Path(run.directory))
    assert isinstance(await supervisor.enrol(ticket.token, run.launch_sha256), Enrolled)
    return supervisor


async def test_attack_64_no_account_and_no_variable_stands_in_for_a_missing_one(
    root: Path,
) -> None:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "STANCHION_KEY", "API_KEY")
    env = dict.fromkeys(names, CANARY)
    async with upstream(response(200, ANSWER_BODY)) as provider:
        with live_broker(root, "--config", configured(root, provider.port), env=env) as broker:
            with pytest.raises(RefusedError) as refused:
                await opened(broker, "poor", "lab")
            assert refused.value.refusal.id == "account_missing"
            supervisor = await opened(broker, "poor", "other")
            assert (await ask(supervisor.directory, BODY, lease=supervisor.lease)).status == 200
            await supervisor.close()
        (request,) = provider.received
        assert "authorization" not in request.headers
        assert CANARY not in str(request)


@pytest.mark.parametrize("credential", ["file:absent", "env:ABSENT_KEY"])
async def test_attack_64_a_key_that_is_not_there_is_an_error_at_launch(
    root: Path, credential: str
) -> None:
    async with upstream(response(200, ANSWER_BODY)) as provider:
        config = configured(root, provider.port, credential)
        with live_broker(root, "--config", config) as broker:
            with pytest.raises(RefusedError) as refused:
                await opened(broker, "poor", "other")
            assert refused.value.refusal.id == "credential_missing"
            await (await opened(broker, "rich", "lab")).close()
        assert provider.received == []


@pytest.mark.parametrize("credential", ["env:", "file:", CANARY])
def test_attack_64_a_credential_that_names_no_place_is_an_error_at_start(
    root: Path, credential: str
) -> None:
    ended = command(root, "serve", "--config", configured(root, 9, credential))
    assert ended.returncode == 2
    assert "profiles.poor.accounts.other.credential" in ended.stderr
    assert CANARY not in ended.stdout + ended.stderr


async def test_attack_64_a_refused_key_is_followed_by_no_other(root: Path) -> None:
    no = response(401, b'{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')
    async with upstream(no) as provider:
        (root / "second").write_text("sk-of-the-poor-0123456789")
        (root / "second").chmod(0o600)
        config = configured(root, provider.port, "file:second")
        with live_broker(root, "--config", config) as broker:
            supervisor = await opened(broker, "rich", "lab")
            reply = await ask(supervisor.directory, BODY, lease=supervisor.lease)
            assert reply.status == 401
            again = await ask(supervisor.directory, BODY, lease=supervisor.lease)
            assert again.status == 403  # the attempt is over, the account tripped
            with pytest.raises(RefusedError) as refused:
                await opened(broker, "rich", "lab")
            assert refused.value.refusal.id == "account_tripped"
            await supervisor.close()
            other = await opened(broker, "poor", "other")  # another account is not
            assert (await ask(other.directory, BODY, lease=other.lease)).status == 401
            await other.close()
            async with broker.client() as client:
                (run,) = [v for v in await client.runs() if v.launch.spec.profile == "rich"]
            ends = [r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd)]
            assert [end.answered.error_class for end in ends] == [ErrorClass.AUTH]
        assert [request.headers["authorization"] for request in provider.received] == [
            f"Bearer {CANARY}",
            "Bearer sk-of-the-poor-0123456789",
        ]
