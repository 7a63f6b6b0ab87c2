"""The broker's commands against a running and an absent broker."""

import signal
import subprocess
import sys
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


def test_the_log_is_shown_and_followed_without_a_broker() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        none = command(root, "logs")
        assert (none.returncode, none.stderr.count("\n")) == (1, 1)
        assert "broker.log: No such file" in none.stderr
        with live_broker(root) as broker:
            shown = command(root, "logs", "-n", "1").stdout
            assert shown.endswith(f"listening, pid {broker.process.pid}\n")
            with subprocess.Popen(
                [*(sys.executable, "-m", "stanchion.runner", "broker", "logs", "-f"),
                 *("--state-dir", str(broker.paths.root))],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as following:  # fmt: skip
                assert following.stdout is not None
                try:
                    assert b"listening" in following.stdout.readline()
                    assert command(root, "stop").returncode == 0
                    assert b"/v1/stop: 202 for uid" in following.stdout.readline()
                    assert b"ending: 0 open attempts" in following.stdout.readline()
                finally:  # else a line that is another would be waited for
                    following.send_signal(signal.SIGINT)
                _, errors = following.communicate(timeout=20)
            assert b"Traceback" not in errors
            assert following.returncode == 130
