import os
import subprocess
import sys

import pytest

SUPERVISOR = [sys.executable, "-m", "stanchion.supervisor"]


def test_without_a_launch_it_leaves_with_70_and_one_sentence() -> None:
    if os.path.exists("/run/stanchion/launch.json"):  # noqa: PTH110 - the real place, on purpose
        pytest.skip("an attempt of somebody else is bound at /run/stanchion")
    done = subprocess.run(SUPERVISOR, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 70
    assert done.stderr.startswith("stanchion supervisor: cannot read the launch: ")
    assert "Traceback" not in done.stderr


def test_its_memory_cannot_be_read_by_others() -> None:
    program = (
        "import stanchion.supervisor.__main__ as m\n"
        "m._attempt()\n"
        "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout == "0\n"


def test_everything_is_imported_before_the_agent_could_change_it() -> None:
    """The agent is root on the same root file system: nothing may be looked up after its start.

    The adapter of its harness comes with the gate, which is before that too.
    """
    program = (
        "import sys\n"
        "import stanchion.supervisor.__main__\n"
        "for name in ('asyncio', 'sqlite3', 'psutil', 'msgspec', 'shutil', 'hashlib',\n"
        "             'concurrent.futures.thread', 'stanchion.supervisor.isolation.process',\n"
        "             'stanchion.supervisor.verify'):\n"
        "    assert name in sys.modules, name\n"
        "for name in ('aiohttp', 'click', 'cryptography', 'watchfiles', 'anyio', 'unittest'):\n"
        "    assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", program], timeout=50, check=True)
