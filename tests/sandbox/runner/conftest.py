"""A sandbox of a trivial process 1, made by the runner's own modules."""

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.sandbox.cgroup import MemoryGroup, Unavailable, make_group
from stanchion.runner.sandbox.oci import MIB, Bind, Box, config_json
from stanchion.runner.sandbox.runsc import Runsc, Sandbox

MARKER = "the process is ready"


@dataclass
class Running:
    """A started sandbox, its output so far and the task that waits for its end."""

    sandbox: Sandbox
    group: MemoryGroup
    waiting: asyncio.Task[int]
    output: bytearray
    printed: asyncio.Event

    @property
    def text(self) -> str:
        return self.output.decode()


@dataclass
class Host:
    """Makes sandboxes below one temporary folder."""

    runsc: RunscInfo
    base: BaseImage
    folder: Path
    made: list[Path] = field(default_factory=list)

    @asynccontextmanager
    async def running(
        self,
        arguments: Sequence[str],
        *,
        memory_mb: int = 512,
        binds: tuple[Bind, ...] = (),
    ) -> AsyncIterator[Running]:
        sandbox_id = secrets.token_hex(16)
        folder = self.folder / sandbox_id
        (folder / "overlay").mkdir(parents=True)
        group = make_group(sandbox_id, memory_bytes=memory_mb * MIB)
        if isinstance(group, Unavailable):
            pytest.skip(group.why)
        box = Box(
            rootfs=str(self.base.path),
            binds=binds,
            arguments=tuple(arguments),
            memory_mb=memory_mb,
            cgroups_path=group.cgroups_path,
        )
        (folder / "config.json").write_bytes(config_json(box))
        runsc = Runsc(str(self.runsc.path), self.folder / "state", folder / "overlay", cgroups=True)
        output, printed = bytearray(), asyncio.Event()

        def drain(data: bytes) -> None:
            output.extend(data)
            if MARKER.encode() in output:
                printed.set()

        sandbox = await Sandbox.start(runsc, sandbox_id=sandbox_id, bundle_dir=folder, drain=drain)
        try:
            async with asyncio.TaskGroup() as tasks:
                waiting = tasks.create_task(sandbox.wait())
                yield Running(sandbox, group, waiting, output, printed)
                if not waiting.done():
                    await sandbox.end(waiting, grace_s=1)
        finally:
            await group.remove()

    async def run(self, *arguments: str, memory_mb: int = 512) -> tuple[int, str, int | None]:
        """Exit code, output, and kills by the memory limit read after the exit."""
        async with self.running(arguments, memory_mb=memory_mb) as running:
            code = await running.waiting
            return code, running.text, running.group.oom_kills()


@pytest.fixture
def host(runsc: RunscInfo, base_image: BaseImage, tmp_path: Path) -> Iterator[Host]:
    yield Host(runsc, base_image, tmp_path)
    shutil.rmtree(tmp_path, ignore_errors=True)
