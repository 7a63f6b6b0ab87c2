"""A client of a bare socket, so that what arrived is known to the byte and the end by its kind.

It shares no code with the rehearsal, nor with the HTTP library that the rehearsal is built on.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field

TIMEOUT_S = 20


@dataclass
class Received:
    """What has come so far. `end` is whole, fin, reset, or open while more could come."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    entity: bytes = b""
    chunks: list[bytes] = field(default_factory=list)
    end: str = "open"


class RawClient:
    """One request on a connection of its own."""

    def __init__(self, port: int, path: str, body: bytes, headers: dict[str, str]) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        head = {"Host": "127.0.0.1", "Content-Length": str(len(body)), **headers}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        self._raw = b""

    def receive(self, until: Callable[[Received], bool] = lambda _: False) -> Received:
        """Read to the end of the response or of the connection, or until something has come.

        After an end the client's side is closed too; before one it stays open.
        """
        received = self._receive(until)
        if received.end != "open":
            self.close()
        return received

    def _receive(self, until: Callable[[Received], bool]) -> Received:
        while True:
            received = _read(self._raw)
            if received.end == "whole" or until(received):
                return received
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                received.end = "reset"
                return received
            if not data:
                received.end = "fin"
                return received
            self._raw += data

    def close(self) -> None:
        self.sock.close()


def _read(raw: bytes) -> Received:
    head, separator, rest = raw.partition(b"\r\n\r\n")
    if not separator:
        return Received()
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    received = Received(status=int(status_line.split(" ")[1]), headers=headers)
    if headers.get("transfer-encoding") == "chunked":
        _dechunk(rest, received)
    else:
        received.entity = rest
        received.end = "whole" if len(rest) == int(headers["content-length"]) else "open"
    return received


def _dechunk(rest: bytes, received: Received) -> None:
    while b"\r\n" in rest:
        size_line, _, rest = rest.partition(b"\r\n")
        size = int(size_line, 16)
        if size == 0:
            received.end = "whole" if rest.startswith(b"\r\n") else "open"
            return
        received.entity += rest[:size]
        received.chunks.append(rest[:size])
        rest = rest[size + 2 :]
