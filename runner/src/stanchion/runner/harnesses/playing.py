"""Plays cells: the real harness in the real sandbox, the real broker, the scripted provider.

Everything of one check lies in one folder that is gone at its end: a state of its own, so that no
live broker is touched, with the cached pieces of this machine. Judges nothing.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.admin import ProfileView
from stanchion.runner.harnesses.cells import MODEL, Cell, Scenario
from stanchion.runner.harnesses.scripts import SCRIPTS
from stanchion.runner.harnesses.wire_reading import Seen, read
from stanchion.runner.launching.attempt_run import Launch, run_attempt
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.pieces import ReadyPieces, make_ready
from stanchion.runner.launching.resolve import REHEARSAL, Options, Pinned, resolve
from stanchion.runner.tasks.task import Task, read_task

TASK = {
    "task.toml": '[environment]\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = 240\n'
    '[metadata.stanchion]\nbase = "debian"\n',
    "instruction.md": "Say that all is done, and do nothing else.\n",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
}


@dataclass(slots=True)
class Lab:
    """Everything that the cells of one check share."""

    folder: Path
    paths: StatePaths
    profile: ProfileView
    task: Task
    say: Callable[[str], None]
    pieces: dict[tuple[str, str], ReadyPieces] = field(default_factory=dict)
    works: dict[tuple[str, str], str] = field(default_factory=dict)
    """By harness and dialect, the script that makes it ask again."""
    played: int = 0

    async def play(self, cell: Cell) -> tuple[Seen, str]:
        """One launch, or a few until the harness asks again; RefusedError before any.

        Beside what was seen, how the last of them ended.
        """
        known = self.works.get((cell.harness, cell.dialect))
        scripts = SCRIPTS[cell.scenario]
        if cell.scenario is Scenario.AGAIN and known is not None:
            scripts = (known,)
        seen, ended = await self._attempt(cell, scripts[0])
        for script in scripts[1:]:
            if len(seen.requests) > 1 or seen.trouble:
                break
            scripts = (script,)
            seen, ended = await self._attempt(cell, script)
        if cell.scenario is Scenario.AGAIN and len(seen.requests) > 1:
            self.works[cell.harness, cell.dialect] = scripts[0]
        return seen, ended

    async def _attempt(self, cell: Cell, script: str) -> tuple[Seen, str]:
        self.played += 1
        folder = self.folder / f"cell-{self.played}"
        folder.mkdir()
        (folder / "rehearsal.toml").write_text(script)
        launch = self._launch(cell, folder)
        result = await run_attempt(launch, lambda _event: None)
        bundle = result.receipts.bundle
        content = b"" if bundle is None else await asyncio.to_thread(Path(bundle).read_bytes)
        seen = read(content)
        await asyncio.to_thread(shutil.rmtree, folder)
        return seen, f"{result.outcome.reason}: {result.outcome.detail}"

    def _launch(self, cell: Cell, folder: Path) -> Launch:
        pieces = self.pieces[cell.harness, cell.version]
        pinned = Pinned(
            base_sha256=None if pieces.base is None else pieces.base.digest,
            harness_sha256=pieces.harness.digest,
        )
        options = Options(
            harness=cell.harness,
            harness_version=cell.version,
            account=REHEARSAL,
            model=MODEL,
            effort=cell.effort,
            output_limit=cell.limit,
            dialect=cell.dialect,
        )
        spec = resolve(self.task, options, self.profile, adapter(cell.harness), pinned)
        (folder / "attempt").mkdir()
        return Launch(
            task=self.task,
            spec=spec,
            pieces=pieces,
            paths=self.paths,
            result_folder=folder / "attempt",
            rehearsal_script=folder / "rehearsal.toml",
        )

    def bring(self, name: str, version: str) -> None:
        """Have the pieces of one harness ready, fetching what is missing."""
        self.pieces[name, version] = make_ready(
            self.paths.cache_dir,
            base=self.task.config.base,
            harness=(name, version),
            say=self.say,
            is_root=os.geteuid() == 0,
        )


@asynccontextmanager
async def lab(state: StatePaths, say: Callable[[str], None]) -> AsyncIterator[Lab]:
    """A lab with a broker of its own; both end with the block."""
    with tempfile.TemporaryDirectory(prefix="stanchion-check-") as name:
        folder = Path(name)
        paths = StatePaths(folder / "state")
        paths.root.mkdir()
        state.cache_dir.mkdir(parents=True, exist_ok=True)
        paths.cache_dir.symlink_to(state.cache_dir)
        task = _write_task(folder / "conformance")
        await ensure_broker(paths, None, lambda _words: None)
        try:
            async with BrokerClient(paths.admin_socket) as broker:
                profile = await broker.profile(REHEARSAL)
            yield Lab(folder, paths, profile, task, say)
        finally:
            with suppress(BrokerUnreachableError):
                async with BrokerClient(paths.admin_socket) as broker:
                    await broker.stop()


def _write_task(folder: Path) -> Task:
    for name, text in TASK.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_task(folder)
