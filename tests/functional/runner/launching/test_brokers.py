"""Finding, starting and restarting a real broker process."""

import asyncio
import os
from pathlib import Path

import psutil
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.broker.client.config_file import ConfigFile, find_config
from stanchion.protocol.admin import OpenRun, Rehearsal
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.brokers import ensure_broker, live_broker

pytestmark = pytest.mark.timeout(60)


def config(folder: Path, text: str = "version = 1\n") -> ConfigFile:
    path = folder / "stanchion.toml"
    path.write_text(text)
    found = find_config(str(path), {}, folder=folder, home=folder)
    assert found is not None
    return found


async def test_one_is_started_as_a_process_of_its_own_and_used_again(paths: StatePaths) -> None:
    said: list[str] = []
    assert await live_broker(paths) is None
    first = await ensure_broker(paths, None, said.append)
    second = await ensure_broker(paths, None, said.append)

    assert first.pid == second.pid != os.getpid()
    assert len(said) == 1
    assert str(first.pid) in said[0]
    process = psutil.Process(first.pid)
    assert os.getsid(first.pid) != os.getsid(0)
    assert "stanchion.broker" in process.cmdline()
    assert (paths.broker_dir / "broker.log").stat().st_mode & 0o077 == 0


async def test_two_commands_at_the_same_moment_share_one(paths: StatePaths) -> None:
    ignored: list[str] = []
    one, other = await asyncio.gather(
        ensure_broker(paths, None, ignored.append), ensure_broker(paths, None, ignored.append)
    )

    assert one.pid == other.pid


async def test_a_changed_configuration_restarts_one_without_open_runs(
    paths: StatePaths, tmp_path: Path
) -> None:
    said: list[str] = []
    first = await ensure_broker(paths, config(tmp_path), said.append)
    assert (await ensure_broker(paths, config(tmp_path), said.append)).pid == first.pid
    changed = config(tmp_path, "version = 1\n# changed\n")
    second = await ensure_broker(paths, changed, said.append)

    assert second.pid != first.pid
    assert second.config_sha256 == changed.sha256
    assert "restarted" in said[1]
    assert not psutil.pid_exists(first.pid)


async def test_one_with_open_runs_is_not_restarted(paths: StatePaths, tmp_path: Path) -> None:
    ignored: list[str] = []
    await ensure_broker(paths, None, ignored.append)
    async with BrokerClient(paths.admin_socket) as broker:
        opened = await broker.open_run(
            OpenRun(
                protocol=PROTOCOL_VERSION,
                run="7f3a90c41b22",
                attempt=1,
                spec=REHEARSAL_SPEC,
                rehearsal=Rehearsal(port=9, key="sk-x"),
            )
        )
        with pytest.raises(RefusedError) as refused:
            await ensure_broker(paths, config(tmp_path), ignored.append)
        await broker.cancel(opened.id)

    assert refused.value.refusal.id == "broker_config_differs"


async def test_a_broken_configuration_is_refused_in_the_brokers_words(
    paths: StatePaths, tmp_path: Path
) -> None:
    broken = config(tmp_path, "version = 1\nsurprise = 2\n")
    with pytest.raises(RefusedError, match="surprise") as refused:
        await ensure_broker(paths, broken, print)
    assert refused.value.refusal.id == "config_invalid"
