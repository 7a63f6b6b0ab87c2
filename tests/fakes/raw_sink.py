"""A provider that keeps every byte that reaches it, and answers each whole request the same way."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

ANSWER_BODY = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(ANSWER_BODY),
    ANSWER_BODY,
)


@dataclass(frozen=True)
class SunkRequest:
    """Head with its empty line, and as much body as the head announced."""

    head: bytes
    body: bytes

    @property
    def request_line(self) -> bytes:
        return self.head.split(b"\r\n")[0]

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        lines = self.head.removesuffix(b"\r\n\r\n").split(b"\r\n")[1:]
        pairs = [line.split(b": ", 1) for line in lines]
        assert all(len(pair) == 2 for pair in pairs), self.head
        return [(name, value) for name, value in pairs]


@dataclass
class RawSink:
    """Where it listens, and what came."""

    port: int
    requests: list[SunkRequest] = field(default_factory=list)
    surplus: bytearray = field(default_factory=bytearray)
    """Bytes that were left at the end of a connection and belong to no request."""

    def taken(self) -> list[SunkRequest]:
        """What came since the last time."""
        taken, self.requests[:] = list(self.requests), []
        return taken


@contextlib.contextmanager
def raw_sink() -> Iterator[RawSink]:
    """Listen until the block ends."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as server:
        sink = RawSink(server.getsockname()[1])
        connections: list[tuple[socket.socket, threading.Thread]] = []
        accepting = threading.Thread(target=_accept, args=(server, sink, connections))
        accepting.start()
        try:
            yield sink
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection, thread in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                thread.join()
                connection.close()


def _accept(
    server: socket.socket, sink: RawSink, connections: list[tuple[socket.socket, threading.Thread]]
) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        thread = threading.Thread(target=_serve, args=(connection, sink))
        connections.append((connection, thread))
        thread.start()


def _serve(connection: socket.socket, sink: RawSink) -> None:
    rest = b""
    with contextlib.suppress(OSError):
        while data := connection.recv(65536):
            rest += data
            while (found := _request(rest)) is not None:
                sink.requests.append(found)
                rest = rest[len(found.head) + len(found.body) :]
                connection.sendall(ANSWER)
        connection.shutdown(socket.SHUT_RDWR)
    sink.surplus += rest


def _request(data: bytes) -> SunkRequest | None:
    """The first request in the bytes, by its length alone; None while it is not whole."""
    head, end, rest = data.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2].strip()
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    ]
    length = int(lengths[0]) if lengths else 0
    return SunkRequest(head + end, rest[:length]) if end and len(rest) >= length else None
