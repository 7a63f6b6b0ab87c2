"""The admin socket: its owner's alone, and silent about what it was sent."""

import asyncio
import secrets

from fakes.launches import KEY, order
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.codec import encode


async def test_errors_echo_nothing(broker: LiveBroker) -> None:
    canary = b"CANARY-1234"
    order_with_key = encode(order(run=secrets.token_hex(6), profile="none"))
    requests = [
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + canary + b" broken\r\n\r\n",
        b"\x16\x03\x01" + canary + b"\r\n\r\n",
        b"POST /v1/runs HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 11\r\n\r\n"
        + canary,
        b"GET /" + canary + b" HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"POST /v1/runs HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
        % (len(order_with_key), order_with_key),
    ]
    for request in requests:
        reader, writer = await asyncio.open_unix_connection(str(broker.paths.admin_socket))
        writer.write(request)
        answer = await reader.read()
        writer.close()
        assert answer.partition(b" ")[2].startswith(b"4")
        assert canary not in answer
        assert KEY.encode() not in answer
    log = broker.paths.log_file.read_bytes() + broker.output.read_bytes()
    assert canary not in log
    assert KEY.encode() not in log


async def test_the_socket_and_the_keys_are_the_owners_alone(broker: LiveBroker) -> None:
    assert broker.paths.admin_socket.stat().st_mode & 0o777 == 0o600
    assert broker.paths.broker_dir.stat().st_mode & 0o077 == 0
    async with enrolled(broker, 9) as run:
        assert run.directory.stat().st_mode & 0o777 == 0o700
        assert (run.directory / "model.sock").stat().st_mode & 0o077 == 0
