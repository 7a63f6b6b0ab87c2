import hashlib
import socket
from pathlib import Path

import pytest

from functional.rehearsal.player import CHAT, MESSAGES, Rehearsal, request
from functional.rehearsal.raw_client import RawClient

LETTERS = 400_000
"""More than a socket holds on its own, so that the end has to wait for the reader."""


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_a_cut_connection_loses_none_of_the_bytes_that_the_witness_counted(
    tmp_path: Path, how: str
) -> None:
    script = (
        f'version = 1\n[[turn]]\ntext = "{"x" * LETTERS}"\ngap_ms = 0\n'
        f'fault = {{kind = "cut", after = 2, how = "{how}"}}\n'
    )
    with Rehearsal(tmp_path, script) as rehearsal:
        received = RawClient(rehearsal.port, CHAT, request(), {}).receive()
        (line,) = rehearsal.witnessed()
    assert received.end == {"fin": "fin", "rst": "reset"}[how]
    assert len(received.entity) > LETTERS
    assert line["response_sha256"] == hashlib.sha256(received.entity).hexdigest()
    assert (line["complete"], line["client_gone"], line["status"]) == (False, False, 200)


def test_a_reset_does_not_wait_for_ever_for_a_client_that_reads_nothing(tmp_path: Path) -> None:
    script = (
        f'version = 1\n[[turn]]\ntext = "{"x" * 100_000}"\ngap_ms = 0\n'
        'fault = {kind = "cut", after = 2, how = "rst"}\n'
    )
    with Rehearsal(tmp_path, script) as rehearsal:
        sock = socket.socket()
        sock.settimeout(20)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sock.connect(("127.0.0.1", rehearsal.port))
        body = request()
        head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        sock.sendall(head.encode() + body)
        with rehearsal.log.open() as log:
            line = ""
            while not line.endswith("\n"):
                assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
                line += next((text for text in log if CHAT in text), "")
        assert '"complete":false' in line
        with pytest.raises(ConnectionResetError):
            _read_all(sock)
        sock.close()


def _read_all(sock: socket.socket) -> None:
    while sock.recv(65536):
        pass


@pytest.mark.parametrize(("path", "header"), [(CHAT, "x-request-id"), (MESSAGES, "request-id")])
def test_the_request_id_is_in_the_header_of_the_dialect(
    tmp_path: Path, path: str, header: str
) -> None:
    with Rehearsal(tmp_path) as rehearsal:
        response = rehearsal.send(request(max_tokens=9), path=path)
        other = {"x-request-id", "request-id"} - {header}
        assert not other & response.headers.keys()
        assert rehearsal.witnessed()[0]["request_id"] == response.headers[header]
