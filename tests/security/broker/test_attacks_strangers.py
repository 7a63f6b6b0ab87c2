"""Attack 63: other users of this host, and attempts of others."""

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from fakes.launches import order
from fakes.other_user import NOBODY, PYTHONS
from fakes.raw_sink import ANSWER_BODY
from fakes.supervisor import Supervisor, ask
from fakes.upstream import response, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from security.broker.raw_client import BODY
from stanchion.broker.attempts.leases import make_token
from stanchion.protocol.control import Enrolled, Refused
from stanchion.protocol.receipt import Denied, RunOpen, TokenIssued
from stanchion.protocol.refusal import RefusedError

TRY = """
import socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
    except OSError as error:
        print(type(error).__name__)
    else:
        print("REACHED")
"""


ASK = """
import socket, sys
for asked in ("GET /v1/runs", "POST /v1/runs/%s/cancel", "POST /v1/stop"):
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(sys.argv[1])
    line = asked % sys.argv[2] if "%s" in asked else asked
    caller.sendall(f"{line} HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: 0\\r\\n\\r\\n".encode())
    came = b""
    while data := caller.recv(65536):
        came += data
    print(came.hex())
"""


def as_another_user(script: str, places: list[str]) -> list[str]:
    for python in PYTHONS:
        try:
            told = subprocess.run(
                [python, "-I", "-c", script, *places],
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue  # not his to run
        return told.stdout.split()
    pytest.skip("NOT TESTED: another user can run no Python here")


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can be another user")
async def test_attack_63_another_user_of_this_host_reaches_no_socket(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run:
        places = [
            str(broker.paths.admin_socket),
            str(run.directory / "model.sock"),
            str(run.directory / "control.sock"),
        ]
        tried = as_another_user(TRY, places)
    assert tried == ["PermissionError"] * 3


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can be another user")
async def test_attack_63_another_user_who_reaches_the_admin_socket_is_not_served() -> None:
    """Somebody loosened the modes; the kernel still says who it is."""
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        async with enrolled(broker, 9) as run:
            for place in (Path(folder), broker.paths.root, broker.paths.broker_dir):
                place.chmod(0o711)
            broker.paths.admin_socket.chmod(0o666)
            told = as_another_user(ASK, [str(broker.paths.admin_socket), run.id])
            answers = [bytes.fromhex(line) for line in told]
            assert len(answers) == 3
            assert len(set(answers)) == 1
            assert answers[0].startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert b'"id":"admin_principal"' in answers[0]
            assert run.id.encode() not in answers[0]
            async with broker.client() as client:
                assert (await client.run(run.id)).state == "open"
        said = broker.paths.log_file.read_text()
        assert said.count(f"the admin socket does not serve uid {NOBODY}") == 3


async def test_attack_63_who_did_what_is_on_record_by_the_kernels_word(broker: LiveBroker) -> None:
    """Whatever a caller says of itself: a header with a name changes nothing."""
    me = f"uid {os.geteuid()}"
    async with enrolled(broker, 9) as run:
        reader, writer = await asyncio.open_unix_connection(str(broker.paths.admin_socket))
        writer.write(
            f"POST /v1/runs/{run.id}/cancel HTTP/1.1\r\nhost: x\r\nx-principal: uid 4711\r\n"
            "authorization: Bearer uid 4711\r\nconnection: close\r\n"
            "content-length: 0\r\n\r\n".encode()
        )
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        records = await broker.records(run.id)
    assert [record.opened_by for record in records if isinstance(record, RunOpen)] == [me]
    why = {record.what: record.why for record in records if isinstance(record, TokenIssued)}
    assert (why["enrol_issued"], why["revoked"]) == (f"for {me}", f"cancelled by {me}")
    said = broker.paths.log_file.read_text()
    done = f"{run.id}: 200 for {me}, pid {os.getpid()}"
    assert f"/v1/runs/{{id}}/enrol {done}" in said
    assert f"/v1/runs/{{id}}/cancel {done}" in said
    assert "4711" not in said


async def test_attack_63_nothing_of_one_attempt_opens_another(broker: LiveBroker) -> None:
    """Rows: whose token; columns: whose socket. Only the diagonal is served."""
    async with (
        upstream(response(200, ANSWER_BODY)) as provider,
        enrolled(broker, provider.port) as first,
        enrolled(broker, provider.port) as second,
        broker.client() as client,
    ):
        attempts = [first, second]
        for token_of in attempts:
            for socket_of in attempts:
                reply = await ask(socket_of.directory, BODY, lease=token_of.lease)
                assert (reply.status == 200) is (token_of is socket_of)
        third = await client.open_run(order(provider.port, run="a1b2c3d4e5f6"))
        ticket = await client.enrol(third.id)
        stranger = Supervisor(second.directory, boot="boot-of-a-stranger")
        refused = await stranger.enrol(ticket.token, second.opened.launch_sha256)
        assert isinstance(refused, Refused)
        await stranger.close()
        own = Supervisor(Path(third.directory))
        assert isinstance(await own.enrol(ticket.token, third.launch_sha256), Enrolled)
        await own.close()
        denied = [r.why for r in await broker.records(second.id) if isinstance(r, Denied)]
        assert any(why.startswith("security: enrol_refused") for why in denied)


async def test_attack_63_an_id_that_is_guessed_is_answered_like_one_that_is_none(
    broker: LiveBroker,
) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        name = run.id.partition(".")[0]
        guesses = [f"{int(name, 16) ^ 1:012x}.1", f"{name}.2", "0" * 12 + ".1", "../" + name]
        ids = set()
        for guess in guesses:
            for ask_for in (client.run, client.bundle, client.cancel, client.enrol):
                with pytest.raises(RefusedError) as refused:
                    await ask_for(guess)
                ids.add(refused.value.refusal.id)
                assert run.id not in str(refused.value)
        assert ids <= {"run_unknown", "admin_http"}
        assert (await client.run(run.id)).state == "open"


def test_attack_63_directories_and_tokens_are_not_to_be_guessed(broker: LiveBroker) -> None:
    async def opened() -> Enrolment:
        async with enrolled(broker, 9) as run:
            return run

    runs = [asyncio.run(opened()) for _ in range(3)]
    assert len({run.directory.name for run in runs}) == 3
    assert all(len(run.directory.name) == 8 for run in runs)
    assert len({run.lease for run in runs}) == 3
    assert all(len(run.lease) == len(make_token(b"x" * 32)) for run in runs)
