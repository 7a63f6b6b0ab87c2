"""The broker process from start to end, by its commands."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.supervisor import Supervisor, ask
from fakes.upstream import response, upstream
from functional.broker.live import command, enrolled, live_broker
from stanchion.protocol.control import Enrolled
from stanchion.protocol.receipt import ExchangeEnd

CONFIG = """
version = 1
[profiles.evals.accounts.local]
api = "openai_chat"
base_url = "http://127.0.0.1:8000/v1"
credential = "file:key"
allow_plain_http = true
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_although_a_supervisor_is_connected(
    root: Path, number: signal.Signals
) -> None:
    with live_broker(root) as broker:
        async with enrolled(broker, 9) as run:
            broker.process.send_signal(number)
            while await run.supervisor.hear() is not None:
                pass
            assert broker.process.wait(10) == 0


async def test_a_running_response_is_cut_and_on_record_when_the_broker_ends(root: Path) -> None:
    """Its start has an end: the next reader of the receipts sees why it broke off."""
    import asyncio

    from fakes.upstream import STREAM_HEAD, Received, chunk, say

    async def drip(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(say('{"choices":[{"delta":{"content":"a"}}]}')))
        await asyncio.Event().wait()

    body = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true}'
    with live_broker(root) as broker:
        async with upstream(drip) as provider, enrolled(broker, provider.port) as run:
            reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
            head = (
                f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await reader.readuntil(b"content")
            broker.process.terminate()
            await reader.read()
            writer.close()
            assert broker.process.wait(10) == 0
    with live_broker(root) as broker:
        ends = [r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd)]
        assert [end.answered.result for end in ends] == ["revoked"]


async def test_a_configuration_is_read_and_its_key_stays_inside(root: Path) -> None:
    (root / "key").write_text("sk-CANARY-file\n")
    (root / "key").chmod(0o600)
    (root / "stanchion.toml").write_text(CONFIG)
    with live_broker(root, "--config", str(root / "stanchion.toml")) as broker:
        async with broker.client() as client:
            assert [profile.name for profile in await client.profiles()] == ["evals", "rehearsal"]
            health = await client.health()
            assert health.config_path == str(root / "stanchion.toml")
            assert "CANARY" not in str(await client.profile("evals"))


async def test_a_key_that_others_can_read_pays_for_nothing(root: Path) -> None:
    (root / "key").write_text("sk-CANARY-file\n")
    (root / "key").chmod(0o644)
    (root / "stanchion.toml").write_text(CONFIG)
    with live_broker(root, "--config", str(root / "stanchion.toml")) as broker:
        async with broker.client() as client:
            refusal = (await client.profile("evals")).unready["local"]
    assert "chmod 600" in refusal.remedy
    said = f"{refusal}{broker.output.read_text()}{broker.paths.log_file.read_text()}"
    assert "CANARY" not in said


def test_a_bad_configuration_names_its_key(root: Path) -> None:
    (root / "stanchion.toml").write_text(CONFIG + "max_in_flght = 3\n")
    done = command(root, "serve", "--config", str(root / "stanchion.toml"))
    assert done.returncode == 2
    assert "profiles.evals.accounts.local" in done.stderr
    assert "max_in_flght" in done.stderr


async def test_a_second_enrolment_after_the_first_lives_through_a_lost_reply(root: Path) -> None:
    with live_broker(root) as broker:
        ok = response(200, b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}')
        async with upstream(ok) as provider, enrolled(broker, provider.port) as run:
            await run.supervisor.close()
            again = Supervisor(run.directory, lease=run.lease)
            assert isinstance(await again.resume(), Enrolled)
            body = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max"}'
            assert (await ask(run.directory, body, lease=again.lease)).status == 200
            await again.close()


def test_a_second_broker_names_the_first_and_leaves_it_alone(root: Path) -> None:
    with live_broker(root) as broker:
        done = command(root, "serve")
        assert done.returncode == 2
        assert f"pid {broker.process.pid} does on this one" in done.stderr
        assert "stanchion broker stop" in done.stderr
        assert done.stderr.count("\n") == 1
        assert command(root, "status").returncode == 0


def test_sockets_of_a_broker_that_was_killed_are_in_nobodys_way(root: Path) -> None:
    with live_broker(root) as broker:
        broker.kill()
        assert broker.paths.admin_socket.is_socket()
    with live_broker(root) as broker:
        assert f"pid {broker.process.pid}" in command(root, "status").stdout
    assert not broker.paths.admin_socket.exists()


def test_a_state_folder_that_cannot_be_used_is_one_sentence(root: Path) -> None:
    """Read-only, a file in its place, a path too long for a socket."""
    (root / "file").touch()
    for state, words in (
        ("/proc/stanchion", "the broker can write to it"),
        (str(root / "file" / "state"), "the broker can write to it (Not a directory)"),
        (str(root / ("x" * 120)), "at most 107 bytes"),
    ):
        done = command_in(state, "serve")
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert state in done.stderr
        assert done.stderr.count("\n") == 1


def command_in(state: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stanchion.broker", *arguments, "--state-dir", state],
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )


async def test_a_broker_started_by_the_way_goes_once_no_attempt_is_open(root: Path) -> None:
    with live_broker(root) as broker:
        async with enrolled(broker, 9) as run:
            broker.kill()
    with live_broker(root, "--idle-exit", "0.2") as broker:
        with pytest.raises(subprocess.TimeoutExpired):
            broker.process.wait(1)
        await broker.close(run.id)
        assert broker.process.wait(20) == 0
    assert not broker.paths.admin_socket.exists()
