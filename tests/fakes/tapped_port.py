"""A port on loopback that hands all bytes to another one and keeps those that went there."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class TappedPort:
    """Where to connect, and what every connection has sent so far."""

    port: int
    sent: list[bytearray] = field(default_factory=list)

    def requests(self) -> list[tuple[bytes, bytes]]:
        """Head and body of every request with a length."""
        found = []
        for stream in self.sent:
            rest = bytes(stream)
            while rest:
                head, _, rest = rest.partition(b"\r\n\r\n")
                length = _length(head)
                found.append((head + b"\r\n\r\n", rest[:length]))
                rest = rest[length:]
        return found


def _length(head: bytes) -> int:
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    assert b"transfer-encoding" not in fields, head
    return int(fields.get(b"content-length", b"0"))


@contextmanager
def tapped_port(target: int) -> Iterator[TappedPort]:
    """Accept until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        tapped = TappedPort(server.getsockname()[1])
        serving: list[threading.Thread] = []
        accepting = threading.Thread(target=_accept, args=(server, tapped, target, serving))
        accepting.start()
        try:
            yield tapped
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in serving:
                thread.join()


def _accept(
    server: socket.socket, tapped: TappedPort, target: int, serving: list[threading.Thread]
) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        tapped.sent.append(bytearray())
        serving.append(threading.Thread(target=_serve, args=(client, target, tapped.sent[-1])))
        serving[-1].start()


def _serve(client: socket.socket, target: int, kept: bytearray) -> None:
    with client, socket.create_connection(("127.0.0.1", target)) as provider:
        back = threading.Thread(target=_pump, args=(provider, client, bytearray()))
        back.start()
        _pump(client, provider, kept)
        back.join()


def _pump(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
    try:
        while data := source.recv(65536):
            kept += data
            sink.sendall(data)
    except OSError:
        pass  # one end is gone: so is the other
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
