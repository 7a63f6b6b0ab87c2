"""What one real sandbox promises to its keeper."""

import asyncio
import socket
from pathlib import Path

import pytest
from tests.sandbox.runner.conftest import MARKER, Host

from stanchion.runner.demo.key_scan import scan_sandbox
from stanchion.runner.sandbox.oci import Bind

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(60)]

READY_S = 20
EAT_MEMORY = "blocks = []\nwhile True: blocks.append(b'x' * 1_000_000)"


@pytest.mark.parametrize("code", [0, 7, 42])
async def test_the_exit_code_of_process_1_is_passed_on(host: Host, code: int) -> None:
    ended, text, kills = await host.run("/bin/sh", "-c", f"echo to the pipe; exit {code}")

    assert (ended, text, kills) == (code, "to the pipe\n", 0)


async def test_a_memory_kill_is_exit_code_1_inside_and_counted_outside(host: Host) -> None:
    ended, _, kills = await host.run("/usr/bin/python3", "-c", EAT_MEMORY, memory_mb=128)

    assert kills == 1
    assert ended in {1, 137}


async def test_a_child_that_the_memory_limit_kills_is_counted_though_all_ends_well(
    host: Host,
) -> None:
    """The kernel picks its victim, on a busy machine at times the sandbox itself: up to 5 tries."""
    script = f'/usr/bin/python3 -c "{EAT_MEMORY}"; echo "child said $?"; exit 0'
    for _ in range(5):
        ended, text, kills = await host.run("/bin/bash", "-c", script, memory_mb=128)
        assert kills >= 1
        if ended == 0:
            break

    assert (ended, kills) == (0, 1)
    assert "child said 1" in text


async def test_term_reaches_process_1(host: Host) -> None:
    script = f"trap 'exit 9' TERM; echo {MARKER}; while :; do sleep 0.05; done"
    async with host.running(["/bin/sh", "-c", script]) as running:
        await asyncio.wait_for(running.printed.wait(), READY_S)
        assert await running.sandbox.end(running.waiting, grace_s=20) == 9


async def test_kill_ends_one_that_ignores_term(host: Host) -> None:
    script = f"trap '' TERM; echo {MARKER}; while :; do sleep 0.05; done"
    async with host.running(["/bin/sh", "-c", script]) as running:
        await asyncio.wait_for(running.printed.wait(), READY_S)
        assert await running.sandbox.end(running.waiting, grace_s=0.2) == 137


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_memory_backed_folders_are_full_before_the_limit_is_reached(
    host: Host, place: str
) -> None:
    script = (
        f"stat -c %a {place}; dd if=/dev/zero of={place}/big bs=1M count=600 2>&1 | "
        "grep -o 'No space left'; echo alive"
    )
    ended, text, kills = await host.run("/bin/sh", "-c", script)

    assert (ended, kills) == (0, 0)
    assert text.split("\n")[:3] == ["1777", "No space left", "alive"]


async def test_what_is_written_to_the_root_does_not_reach_the_base_image(host: Host) -> None:
    script = "echo x > /written-inside && dd if=/dev/zero of=/big bs=1M count=600 2>/dev/null"
    ended, _, kills = await host.run("/bin/sh", "-c", script)

    assert (ended, kills) == (0, 0)
    assert not (host.base.path / "written-inside").exists()


async def test_there_is_no_network(host: Host) -> None:
    ended, text, _ = await host.run("/bin/cat", "/proc/net/dev")

    interfaces = [line.split(":")[0].strip() for line in text.splitlines() if ":" in line]
    assert ended == 0
    assert interfaces == ["lo"]


async def test_a_bound_folder_shows_its_socket_and_cannot_be_written(
    host: Host, tmp_path: Path
) -> None:
    folder = tmp_path / "bound"
    folder.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "s"))
    listener.listen()
    listener.settimeout(READY_S)
    code = (
        "import socket\n"
        "s = socket.socket(socket.AF_UNIX); s.connect('/run/stanchion/s'); s.sendall(b'hello')\n"
        "try: open('/run/stanchion/new', 'w')\n"
        "except OSError as error: print(error.strerror)\n"
    )
    async with host.running(
        ["/usr/bin/python3", "-c", code], binds=(Bind(str(folder), "/run/stanchion"),)
    ) as running:
        connection, _ = await asyncio.to_thread(listener.accept)
        with connection:
            connection.settimeout(READY_S)
            assert await asyncio.to_thread(connection.recv, 100) == b"hello"
        assert await running.waiting == 0
        assert running.text == "Read-only file system\n"
    listener.close()


async def test_the_environment_holds_a_path_and_the_home_that_runsc_adds(host: Host) -> None:
    _, text, _ = await host.run("/usr/bin/env")

    assert {line.split("=")[0] for line in text.split()} == {"PATH", "HOME"}


async def test_a_secret_in_memory_and_in_a_file_is_found_and_another_is_not(host: Host) -> None:
    code = (
        "import base64, sys\n"
        "held = base64.b64decode(sys.argv[1]).decode()\n"
        "open('/root/file', 'w').write(held); open('/tmp/file', 'w').write(held)\n"
        f"print({MARKER!r}, flush=True)\n"
        "import signal; signal.pause()\n"
    )
    encoded = "c2stY29udHJvbC1mb3VuZC1tZQ=="
    async with host.running(["/usr/bin/python3", "-c", code, encoded]) as running:
        await asyncio.wait_for(running.printed.wait(), READY_S)
        there = scan_sandbox(running.sandbox.id, b"sk-control-found-me")
        absent = scan_sandbox(running.sandbox.id, b"sk-control-was-never-here")

    assert there.why is None
    assert there.places is not None
    assert there.places >= 3  # on the heap, in the written file and in the memory-backed one
    assert absent.places == 0
    assert absent.scanned_bytes > 5_000_000


async def test_a_sandbox_that_is_gone_cannot_be_searched(host: Host) -> None:
    async with host.running(["/bin/true"]) as running:
        await running.waiting
    scan = scan_sandbox(running.sandbox.id, b"sk")

    assert scan.places is None
    assert scan.why is not None
