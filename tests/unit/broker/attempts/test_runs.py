"""What an opening that comes to nothing leaves behind. The rest of it runs in a real broker."""

import asyncio
import contextlib
import itertools
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.cut_short import cut_short
from fakes.launches import order
from stanchion.broker.accounts import Accounts
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.config import built_in
from stanchion.broker.receipts.ledger import Ledger, LedgerError
from stanchion.broker.tasks import Tasks


@dataclass
class House:
    """The attempts of a state folder, without their sockets' callers."""

    runs: Runs
    ledger: Ledger
    folder: Path

    def left(self) -> list[str]:
        """Attempt directories."""
        return [path.name for path in self.folder.glob("*")]


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory(prefix="st") as root:
        ledger = await Ledger.open(Path(root) / "state")
        config, folder = built_in(), Path(root) / "run"
        accounts = Accounts(config, folder=Path(root), environ={}, fingerprint=ledger.fingerprint)
        async with asyncio.TaskGroup() as group:
            tasks = Tasks(group)
            runs = Runs(
                config=config, accounts=accounts, ledger=ledger, tasks=tasks, runtime_dir=folder
            )
            yield House(runs, ledger, folder)
            await runs.stop()
            tasks.cancel()
        accounts.close()
        with contextlib.suppress(LedgerError):  # a test closed a part of it before
            await ledger.aclose()


def sockets() -> set[str]:
    """This process's, by their numbers in the kernel."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(entry.readlink()))
        except FileNotFoundError:
            continue  # the listing's own
    return {name for name in found if name.startswith("socket:")}


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt])
async def test_an_opening_that_is_cut_short_leaves_no_directory_and_no_socket(
    error: type[BaseException],
) -> None:
    async with house() as at:
        before = sockets()
        for place in itertools.count(1):
            opening = at.runs.open(order(run=f"{place:012x}"), by="uid 1")
            try:
                opened = await cut_short(opening, place, error)
            except error:
                assert (at.left(), at.runs.open_count) == ([], 0), place
                assert sockets() == before, place
            else:
                break
        assert place > 3
        assert at.left() == [Path(opened.directory).name]
        assert at.runs.open_count == 1


async def test_an_opening_that_cannot_be_told_leaves_no_directory_and_no_socket() -> None:
    async with house() as at:
        before = sockets()
        await at.ledger.events.aclose()
        with pytest.raises(LedgerError, match=r"events\.db is closed"):
            await at.runs.open(order(), by="uid 1")
        assert (at.left(), at.runs.open_count) == ([], 0)
        assert sockets() == before
