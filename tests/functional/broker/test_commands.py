"""The broker's commands against a running and an absent broker."""

import tempfile
from pathlib import Path

from functional.broker.live import command, live_broker


def test_commands_of_a_running_and_of_an_absent_broker() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        assert command(root, "status").returncode == 5
        with live_broker(root) as broker:
            status = command(root, "status")
            assert f"pid {broker.process.pid}" in status.stdout
            key = command(root, "key")
            assert key.stdout.strip() == broker.paths.public_key_file.read_text().strip()
            second = command(root, "serve")
            assert second.returncode == 2
            assert f"pid {broker.process.pid} does" in second.stderr
            assert second.stderr.count("\n") == 1
            assert broker.paths.pid_file.read_text() == f"{broker.process.pid}\n"
            stopped = command(root, "stop")
            assert (stopped.returncode, stopped.stdout) == (
                0,
                f"broker {broker.process.pid} ended\n",
            )
            assert broker.process.wait(5) == 0
            assert not broker.paths.admin_socket.exists()
            assert not broker.paths.pid_file.exists()
