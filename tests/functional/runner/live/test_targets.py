"""What a name leads to, with and without a broker."""

from pathlib import Path

import msgspec
import pytest
from tests.fakes.views import a_note
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import OpenRun, Rehearsal
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.keeper.notes import NOTES
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.live.board import Board
from stanchion.runner.live.following import onto, read_events
from stanchion.runner.live.targets import as_path, find_open, find_target, open_below
from stanchion.runner.live.watching import order_cancel
from stanchion.runner.results.job_folder import write_json

pytestmark = pytest.mark.timeout(60)
OPEN = OpenRun(
    protocol=PROTOCOL_VERSION,
    run="7f3a90c41b22",
    attempt=1,
    spec=REHEARSAL_SPEC,
    rehearsal=Rehearsal(port=9, key="sk-x"),
)


def leave_note(paths: StatePaths, folder: Path, **changes: object) -> None:
    (paths.root / NOTES).mkdir(parents=True, exist_ok=True)
    note = msgspec.structs.replace(a_note(), result_folder=str(folder), **changes)
    write_json(paths.root / NOTES / f"{note.attempt}.json", note)


def test_a_path_that_is_there_is_a_path(tmp_path: Path) -> None:
    assert as_path(str(tmp_path)) == tmp_path
    assert as_path("7f3a90c41b22.1") is None
    with pytest.raises(RefusedError, match="neither a path nor the id"):
        as_path(str(tmp_path / "nothing"))


async def test_without_a_broker_its_note_leads_to_the_results(
    paths: StatePaths, tmp_path: Path
) -> None:
    leave_note(paths, tmp_path)
    target = await find_target("7f3a", paths)

    assert (target.view, target.folder, target.id) == (None, tmp_path, "7f3a90c41b22.1")
    with pytest.raises(BrokerUnreachableError, match="cannot be reached"):
        await find_open("7f3a", paths)
    with pytest.raises(BrokerUnreachableError):
        await find_target("aaaa", paths)


async def test_with_a_broker_both_are_found_until_it_has_ended(
    paths: StatePaths, tmp_path: Path
) -> None:
    await ensure_broker(paths, None, print)
    leave_note(paths, tmp_path)
    async with BrokerClient(paths.admin_socket) as broker:
        opened = await broker.open_run(OPEN)
        target = await find_open("7f3a", paths)
        (below,) = await open_below(tmp_path, paths)
        board = Board()
        await broker.events(opened.id, wait_s=20)
        await read_events(broker, opened.id, onto(board), follow=False)
        await order_cancel(broker, target)  # its keeper, pid 7 of another boot, is not told
        await broker.host_facts(opened.id, HostFacts(sandbox_exit=0))

    assert target == below
    assert (target.is_open, target.folder) == (True, tmp_path)
    assert board.first_at_ms is not None
    with pytest.raises(RefusedError, match=r"it has ended \(cancelled\)"):
        await find_open("7f3a", paths)
    with pytest.raises(RefusedError, match="neither a path nor the id"):
        await find_target("aaaa", paths)
    with pytest.raises(RefusedError, match="no attempt that writes"):
        await open_below(tmp_path, paths)
