import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from functional.rehearsal.player import CHAT, TIMEOUT_S, Rehearsal, open_descriptors, request

PAUSED = 'version = 1\n[[turn]]\nreasoning = "so"\npause = "forever"\n'


def refused(*options: str, stdin: bytes = b"") -> str:
    """The complaint of a process that must not start."""
    done = subprocess.run(
        [sys.executable, "-m", "stanchion.rehearsal", *options],
        input=stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


def test_the_ready_line_names_port_and_pid_and_the_port_is_on_loopback_only(
    tmp_path: Path,
) -> None:
    with Rehearsal(tmp_path) as rehearsal:
        assert json.loads(rehearsal.ready) == {
            "port": rehearsal.port,
            "pid": rehearsal.process.pid,
        }
        local = f"0100007F:{rehearsal.port:04X}"
        sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        listening = [fields[1] for fields in sockets if fields[3] == "0A"]
        assert local in listening
        assert f"00000000:{rehearsal.port:04X}" not in listening


def test_the_ready_descriptor_gets_the_same_line_and_is_closed() -> None:
    reader, writer = open_descriptors()
    process = subprocess.Popen(
        [sys.executable, "-m", "stanchion.rehearsal", "--ready-fd", str(writer)],
        pass_fds=[writer],
        stdout=subprocess.PIPE,
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as ready:
        line = ready.read()
    assert json.loads(line)["pid"] == process.pid
    assert process.stdout
    assert process.stdout.readline() == line
    process.terminate()
    assert process.wait(timeout=TIMEOUT_S) == 0
    process.stdout.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_at_once_even_while_a_turn_stalls(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with Rehearsal(tmp_path, PAUSED) as rehearsal:
        connection = rehearsal.connect()
        connection.request("POST", CHAT, request(), rehearsal.headers())
        assert connection.getresponse().status == 200
        rehearsal.process.send_signal(number)
        assert rehearsal.process.wait(timeout=TIMEOUT_S) == code
        assert rehearsal.process.stderr
        assert rehearsal.process.stderr.read() == b""
        (line,) = rehearsal.witnessed()
        assert (line["complete"], line["client_gone"]) == (False, False)
        connection.close()


def test_it_dies_with_its_stdin(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, PAUSED, "--die-with-stdin", key="s3cret") as rehearsal:
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
        assert rehearsal.process.stdin
        rehearsal.process.stdin.write(b"what follows the key is not read as one\n")
        rehearsal.process.stdin.flush()
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
        rehearsal.process.stdin.close()
        assert rehearsal.process.wait(timeout=TIMEOUT_S) == 0
        rehearsal.process.stdin = None


def test_it_dies_with_its_parent() -> None:
    command = [sys.executable, "-m", "stanchion.rehearsal", "--key-stdin", "--die-with-stdin"]
    parent = (
        "import subprocess, sys, os\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "child.stdin.write(b'key\\n'); child.stdin.flush()\n"
        "os.write(1, child.stdout.readline()); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent, *command],
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )  # returns only when the grandchild has closed the inherited stderr, that is, ended
    assert done.returncode == -signal.SIGKILL
    assert not Path(f"/proc/{json.loads(done.stdout)['pid']}/exe").exists()


def test_without_the_option_it_outlives_its_stdin(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, PAUSED, key="s3cret") as rehearsal:
        assert rehearsal.process.stdin
        rehearsal.process.stdin.close()
        rehearsal.process.stdin = None
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
        assert rehearsal.end() == 0


@pytest.mark.parametrize(
    "stdin", [b"", b"\n", b"two words\n", "schlüssel\n".encode(), b"k" * 4097 + b"\n"]
)
def test_a_first_line_that_is_no_key_is_refused(stdin: bytes) -> None:
    assert "--key-stdin: the first line of stdin is no key" in refused("--key-stdin", stdin=stdin)


def test_a_key_may_end_with_a_windows_line_or_without_any(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, None, key="s3cret\r") as rehearsal:
        assert rehearsal.send(request(), key="s3cret").status == 200


def test_a_taken_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port: {port} on 127.0.0.1 cannot be bound" in refused("--port", str(port))


def test_a_log_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "witness.jsonl"
    assert f"--log: {path} cannot be opened" in refused("--log", str(path))


def test_a_script_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "the script cannot be read" in refused("--script", str(tmp_path / "none.toml"))


def test_a_witness_that_cannot_write_ends_the_process_and_says_so(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, None, "--log", "/dev/full") as rehearsal:
        assert rehearsal.send(request()).status == 200
        assert rehearsal.process.wait(timeout=TIMEOUT_S) == 1
        assert rehearsal.process.stderr
        complaint = rehearsal.process.stderr.read().decode()
        assert "/dev/full: the witness log cannot be written" in complaint
        assert "Traceback" not in complaint


def test_the_log_is_appended_to_and_private(tmp_path: Path) -> None:
    for _ in range(2):
        with Rehearsal(tmp_path) as rehearsal:
            assert rehearsal.send(request()).status == 200
            lines = rehearsal.witnessed()
    assert len(lines) == 2
    assert rehearsal.log.stat().st_mode & 0o777 == 0o600
