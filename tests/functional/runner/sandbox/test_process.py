"""An attempt without gVisor on the real kernel: what it sees, how it ends, what it leaves."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from stanchion.runner.sandbox.cgroup import Unavailable, make_group
from stanchion.runner.sandbox.oci import Bind
from stanchion.runner.sandbox.process import ProcessSandbox, look_at_host
from stanchion.runner.sandbox.process_powers import find_powers
from stanchion.runner.sandbox.process_view import entry

pytestmark = pytest.mark.timeout(60)

SH = ("/bin/sh", "-c")
READY = b"ready\n"


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    powers = find_powers()
    if powers.why_not is not None:
        pytest.skip(f"no attempt can run as a process here: {powers.why_not}")


class Box:
    """A started attempt and what it printed."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.ready = asyncio.Event()

    def take(self, data: bytes) -> None:
        self.output += data
        if READY in self.output:
            self.ready.set()


@asynccontextmanager
async def started(
    folder: Path,
    command: Sequence[str],
    *,
    binds: Sequence[Bind] = (),
    join: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> AsyncIterator[tuple[ProcessSandbox, Box, "asyncio.Task[int]"]]:
    order = entry(
        folder=folder,
        listed=look_at_host(),
        binds=binds,
        command=tuple(command),
        own_network=find_powers().own_network,
        join=join,
        hidden=hidden,
    )
    box = Box()
    sandbox = await ProcessSandbox.start(order, folder=folder, drain=box.take)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(sandbox.wait())
        try:
            yield sandbox, box, waiting
        finally:
            if not waiting.done():
                await sandbox.signal("KILL")


async def run(folder: Path, script: str, **more: Sequence[str] | Sequence[Bind]) -> tuple[int, str]:
    async with started(folder, (*SH, script), **more) as (_, box, waiting):  # type: ignore[arg-type]
        code = await waiting
    return code, box.output.decode()


async def test_its_process_1_has_a_fresh_writable_root_and_the_hosts_programs(
    tmp_path: Path,
) -> None:
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "a").write_text("content")
    script = (
        "echo $$; id -u; mkdir /work && echo w > /work/f && cat /work/f; cat /given/here/a; "
        "ls /home /root /var/tmp; env | cut -d= -f1 | sort | tr '\\n' ' '; exit 7"
    )
    code, output = await run(
        tmp_path, script, binds=(Bind(str(tmp_path / "shown"), "/given/here"),)
    )

    assert code == 7
    assert output.split() == [
        *("1", "0", "w", "content", "/home:", "/root:", "/var/tmp:"),
        *("OLDPWD", "PATH", "PWD"),
    ] or output.split()[-2:] == ["PATH", "PWD"]


async def test_it_can_neither_write_to_the_host_nor_uncover_it(tmp_path: Path) -> None:
    script = (
        "touch /usr/x 2>/dev/null || echo read-only; umount /usr 2>/dev/null || echo kept; "
        "mount -o remount,rw /etc 2>/dev/null || echo still; ls -A /etc/ssl | wc -l"
    )
    code, output = await run(tmp_path, script, hidden=("/etc/ssl",))

    assert (code, output.split()) == (0, ["read-only", "kept", "still", "0"])


async def test_it_has_loopback_and_no_other_network(tmp_path: Path) -> None:
    if not find_powers().own_network:
        pytest.skip("this host gives no network namespace")
    script = (
        "cat /proc/net/dev | tail -n +3 | cut -d: -f1; cat /proc/net/fib_trie | grep -c 127.0.0.1"
    )
    code, output = await run(tmp_path, script)

    names = output.split()
    assert code == 0
    assert names[0] == "lo"
    assert names[-1] != "0"
    assert not any(name.startswith(("eth", "en", "wl")) for name in names)


async def test_a_term_reaches_process_1_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    async with started(tmp_path, (*SH, script)) as (sandbox, box, waiting):
        await box.ready.wait()
        assert await sandbox.end(waiting, grace_s=20) == 9
    assert not await sandbox.signal("TERM")


async def test_a_kill_takes_every_process_along(tmp_path: Path) -> None:
    script = "trap '' TERM; (setsid sleep 300 &) ; sleep 301 & echo ready; wait"
    async with started(tmp_path, (*SH, script)) as (sandbox, box, waiting):
        await box.ready.wait()
        children = psutil.Process(sandbox.pid).children(recursive=True)
        assert len(children) >= 2
        assert await sandbox.end(waiting, grace_s=0.1) == 137
    _, alive = await asyncio.to_thread(psutil.wait_procs, children, 10)
    assert alive == []


async def test_a_command_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    async with started(tmp_path, ("/no/such/program",)) as (_, box, waiting):
        code = await waiting

    assert code == 128
    assert b"the attempt cannot be put up: No such file or directory" in box.output


async def test_a_place_that_does_not_exist_is_named(tmp_path: Path) -> None:
    code, output = await run(tmp_path, "true", binds=(Bind("/no/such/place", "/given"),))

    assert code == 128
    assert "mount /no/such/place" in output


async def test_its_memory_kills_are_counted_where_a_cgroup_can_be_had(tmp_path: Path) -> None:
    group = make_group(secrets.token_hex(16), memory_bytes=64 * 1024 * 1024)
    if isinstance(group, Unavailable):
        pytest.skip(group.why)
    eat = "x = bytearray(200_000_000); x[::4096] = b'1' * len(x[::4096])"
    script = f'python3 -c "{eat}"; echo $?'
    try:
        code, output = await run(tmp_path, script, join=(str(group.folder / "cgroup.procs"),))
        kills = group.oom_kills()
    finally:
        await group.remove()

    assert (code, output.split()[-1]) == (0, "137")
    assert kills
    assert kills >= 1


def test_the_look_at_the_host_tells_links_from_folders(tmp_path: Path) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "opt" / "tools").mkdir(parents=True)
    (tmp_path / "file").touch()

    listed = look_at_host(tmp_path)

    assert listed.top == {"usr": None, "bin": "usr/bin", "opt": None}
    assert (list(listed.opt), listed.has_hosts) == (["tools"], False)
