"""The gate of the model socket, with raw bytes: lease, routes, framing; constant answers."""

import asyncio
import contextlib
import signal
import socket

import pytest

from fakes.supervisor import ask, raw
from fakes.upstream import response, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.broker.attempts.leases import make_token
from stanchion.broker.plane.limits import Limits

BODY = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max"}'
UNAUTHORIZED = (
    b'{"error":{"message":"stanchion: no valid lease.","type":"stanchion_error",'
    b'"param":null,"code":"stanchion_unauthorized"}}'
)
OK = response(200, b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}')


async def test_a_lease_that_is_not_this_attempts_is_answered_with_a_constant_401(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port) as run,
        enrolled(broker, provider.port) as other,
    ):
        twice = (("x-stanchion-lease", run.lease),)
        replies = [
            await ask(run.directory, BODY, lease=None),
            await ask(run.directory, BODY, lease="st1_wrong"),
            await ask(run.directory, BODY, lease=make_token(b"r" * 32)),
            await ask(run.directory, BODY, lease=other.lease),
            await ask(run.directory, BODY, lease=run.lease, extra=twice),
            await ask(run.directory, BODY, lease="' OR 1=1 --"),
        ]
        assert {(reply.status, reply.body) for reply in replies} == {(401, UNAUTHORIZED)}
        assert provider.received == []
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/chat/completions?x=1"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "//v1/chat/completions"),
        ("POST", "/v1/ch%61t/completions"),
        ("POST", "/v1/../v1/chat/completions"),
        ("POST", "http://evil.example/v1/chat/completions"),
        ("POST", "/v1/files"),
        ("POST", "/v1/runs"),
        ("GET", "/healthz"),
    ],
)
async def test_only_the_exact_routes_are_served(
    broker: LiveBroker, method: str, target: str
) -> None:
    async with upstream(OK) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease, method=method, target=target)
        assert reply.status == 404
        assert target.encode() not in reply.body
        assert provider.received == []


async def test_probes_are_answered_here_and_are_no_exchange(broker: LiveBroker) -> None:
    async with upstream(OK) as provider, enrolled(broker, provider.port) as run:
        for method, target in (("GET", "/"), ("HEAD", "/"), ("GET", "/v1/models")):
            reply = await ask(run.directory, b"", lease=run.lease, method=method, target=target)
            assert reply.status == 200
        async with broker.client() as client:
            assert (await client.run(run.id)).exchanges == 0
        assert provider.received == []


@pytest.mark.parametrize(
    "head",
    [
        "content-length: 5\r\ncontent-length: 5\r\n",
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "content-length: +5\r\n",
        "content-length: 5\r\n folded: yes\r\n",
        "content-length : 5\r\n",
        "content-length: 5\nx: y\r\n",
        "content-length: 5\r\nx: a\x00b\r\n",
        "content-length: 5\r\nupgrade: h2c\r\n",
    ],
)
async def test_ambiguous_framing_is_refused(broker: LiveBroker, head: str) -> None:
    async with upstream(OK) as provider, enrolled(broker, provider.port) as run:
        lines = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n{head}"
        reply = await raw(run.directory, lines.encode() + b"\r\n" + BODY)
        assert reply.status == 400
        assert provider.received == []


async def test_bytes_behind_a_request_are_never_another_request(broker: LiveBroker) -> None:
    async with upstream(OK) as provider, enrolled(broker, provider.port) as run:
        one = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(BODY)}\r\n\r\n"
        ).encode() + BODY
        reply = await raw(run.directory, one + one)
        assert (reply.status, reply.whole) == (200, True)
        assert reply.headers["connection"] == "close"
        assert len(provider.received) == 1


async def test_callers_credentials_and_unlisted_headers_stay_here(broker: LiveBroker) -> None:
    async with upstream(OK) as provider, enrolled(broker, provider.port) as run:
        extra = (
            ("authorization", "Bearer sk-of-the-agent"),
            ("x-api-key", "sk-of-the-agent"),
            ("openai-organization", "org-other"),
            ("cookie", "a=b"),
            ("x-session-id", "ses_1"),
            ("user-agent", "opencode/1.18.33"),
        )
        await ask(run.directory, BODY, lease=run.lease, extra=extra)
        sent = provider.received[0].headers
        assert set(sent) == {
            *("host", "content-length", "accept-encoding", "authorization"),
            *("content-type", "x-session-id", "user-agent"),
        }
        assert "sk-of-the-agent" not in str(sent)
        assert sent["host"] == f"127.0.0.1:{provider.port}"


@pytest.mark.parametrize(("size", "status"), [(70_000, 431), (0, 413)])
async def test_heads_and_bodies_are_bounded(broker: LiveBroker, size: int, status: int) -> None:
    async with enrolled(broker, 9) as run:
        extra = (("x-padding", "p" * size),) if size else (("content-length", "68719476736"),)
        lines = [
            "POST /v1/chat/completions HTTP/1.1",
            f"x-stanchion-lease: {run.lease}",
            *(f"{name}: {value}" for name, value in extra),
        ]
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        answer = await reader.read()
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        writer.close()


async def test_all_callers_an_attempt_may_have_can_wait_to_be_accepted(broker: LiveBroker) -> None:
    """A busy broker accepts late; who finds the queue full never hears from it."""
    async with enrolled(broker, 9) as run:
        broker.process.send_signal(signal.SIGSTOP)
        with contextlib.ExitStack() as waiting:
            waiting.callback(broker.process.send_signal, signal.SIGCONT)
            for path in (run.directory / "model.sock", broker.paths.admin_socket):
                for _ in range(Limits().connections + 1):
                    caller = waiting.enter_context(socket.socket(socket.AF_UNIX))
                    caller.setblocking(False)
                    caller.connect(str(path))


async def test_connections_of_one_attempt_are_bounded_and_others_are_not_touched(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port) as run,
        enrolled(broker, provider.port) as other,
    ):
        path = str(run.directory / "model.sock")
        held = [await asyncio.open_unix_connection(path) for _ in range(Limits().connections)]
        reader, writer = await asyncio.open_unix_connection(path)
        assert await reader.read() == b""
        assert (await ask(other.directory, BODY, lease=other.lease)).status == 200
        for _, open_writer in [*held, (reader, writer)]:
            open_writer.close()
            await open_writer.wait_closed()
        while (await ask(run.directory, BODY, lease=run.lease)).status != 200:
            pass
