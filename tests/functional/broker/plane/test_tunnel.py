"""Through a real CONNECT proxy to a real TLS server: the proxy never sees key or body."""

import asyncio
import itertools
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fakes.certificates import make_certificate, server_context
from fakes.cut_short import cut_short
from fakes.egress_proxy import egress_proxy
from fakes.upstream import response, upstream
from stanchion.broker.config import BrokerTable
from stanchion.broker.egress import Egress
from stanchion.broker.plane.connecting import connect, connected
from stanchion.broker.plane.target import Target, request_head
from stanchion.broker.plane.tunnel import ProxyRefusedError, check_answer
from stanchion.broker.plane.upstream import ResponseHead
from stanchion.broker.secrets import Secret
from stanchion.protocol.dialects import Dialect

KEY = "sk-CANARY-through-the-proxy"
BODY = b'{"prompt":"CANARY of the body"}'


def target(folder: Path, provider: int, proxy: int, *, scheme: str = "https") -> Target:
    table = BrokerTable(ca_bundle="cert.pem", egress_proxy=f"http://127.0.0.1:{proxy}")
    url = urlsplit(f"{scheme}://127.0.0.1:{provider}/v1")
    return Egress.of(table, folder=folder).target(url, Secret(KEY), Dialect.OPENAI_CHAT)


async def exchange(where: Target) -> int:
    async with connected(where) as up:
        up.send(request_head(where, "/chat/completions", (), len(BODY)), BODY)
        head = await up.head
    assert isinstance(head, ResponseHead)
    return head.status


async def test_https_leaves_through_the_proxy_unread(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    async with (
        upstream(response(200, b"{}"), tls=server_context(tmp_path)) as provider,
        egress_proxy() as proxy,
    ):
        assert await exchange(target(tmp_path, provider.port, proxy.port)) == 200
        place = f"127.0.0.1:{provider.port}".encode()
        assert proxy.heads == [b"CONNECT " + place + b" HTTP/1.1\r\nhost: " + place + b"\r\n\r\n"]
        assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"
        assert provider.received[0].body == BODY
    assert len(proxy.passed) > 500
    assert b"CANARY" not in proxy.passed


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt])
async def test_however_far_it_came_no_way_stays_open_that_nobody_waits_for(
    tmp_path: Path, error: type[BaseException]
) -> None:
    """The proxy's side of each way ends, or this test never does."""
    make_certificate(tmp_path)
    async with (
        upstream(response(200, b"{}"), tls=server_context(tmp_path)) as provider,
        egress_proxy() as proxy,
    ):
        where = target(tmp_path, provider.port, proxy.port)
        for place in itertools.count(1):
            try:
                up = await cut_short(connect(where), place, error)
            except error:
                await asyncio.gather(*proxy.joining)
            else:
                up.close()
                await asyncio.gather(*proxy.joining)
                break
        assert len(proxy.heads) > 2, "it was cut before the tunnel, in it and in the handshake"
        assert provider.received == []


async def test_a_server_behind_the_proxy_is_verified_all_the_same(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    trusted = (tmp_path / "cert.pem").read_bytes()
    make_certificate(tmp_path)
    async with (
        upstream(response(200, b"{}"), tls=server_context(tmp_path)) as provider,
        egress_proxy() as proxy,
    ):
        (tmp_path / "cert.pem").write_bytes(trusted)
        with pytest.raises(OSError, match="verify failed"):
            await exchange(target(tmp_path, provider.port, proxy.port))
        assert provider.received == []


async def test_a_proxy_that_refuses_is_named(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    async with egress_proxy(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as proxy:
        with pytest.raises(ProxyRefusedError, match="407"):
            await exchange(target(tmp_path, 9, proxy.port))


async def test_plain_http_on_loopback_goes_there_directly(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    async with upstream(response(200, b"{}")) as provider, egress_proxy() as proxy:
        assert await exchange(target(tmp_path, provider.port, proxy.port, scheme="http")) == 200
        assert proxy.heads == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 302 Found\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nsmuggled",
        b"HTTP/2 200\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
    ],
)
def test_anything_but_a_plain_yes_is_a_no(answer: bytes) -> None:
    with pytest.raises(ProxyRefusedError):
        check_answer(answer)


def test_a_plain_yes() -> None:
    check_answer(b"HTTP/1.0 200 Connection established\r\nvia: x\r\n\r\n")
