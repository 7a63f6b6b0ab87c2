import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT, ending
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.broker.receipts.ledger import Ledger

TESTS = Path(__file__).parents[3]


def started(state: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(TESTS / "fakes" / "append_forever.py"), str(state), *arguments],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_after(state: Path, lines: int) -> list[str]:
    """What the broker said before a SIGKILL that comes after so many lines and an event.

    Events wait for their 50 ms, in which a thousand receipts may become durable.
    """
    with started(state) as process:
        assert process.stdout is not None
        said: list[str] = []
        while len(said) < lines or not words(said[-1:], "event"):
            said.append(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        # The end may be half a line: that was not said.
        said += [line for line in process.stdout.read().splitlines(keepends=True) if "\n" in line]
        assert process.stderr is not None
        assert process.stderr.read() == ""
    return said


def words(said: list[str], kind: str) -> list[str]:
    return [line.split()[1] for line in said if line.startswith(kind + " ")]


@pytest.mark.timeout(180)
async def test_what_was_acknowledged_outlives_kill_9_again_and_again(tmp_path: Path) -> None:
    chance = random.Random(9)
    receipts: set[int] = set()
    events: list[str] = []
    for _ in range(6):
        said = killed_after(tmp_path, chance.randrange(5, 400))
        receipts |= {int(word) for word in words(said, "receipt")}
        events += words(said, "event")

        ledger = await Ledger.open(tmp_path)
        bundle = ledger.bundle(ATTEMPT)
        assert bundle is not None
        found = verify(bundle)
        assert isinstance(found, Verified), found
        assert {record.seq for record in found.records} >= receipts
        entries, _ = await ledger.events.page(ATTEMPT, None, limit=100_000)
        kept = {entry.cursor.partition(".")[2] for entry in entries}
        assert kept >= {cursor.partition(".")[2] for cursor in events}
        await ledger.aclose()
    assert len(receipts) > 100
    assert len(events) > 0

    ledger = await Ledger.open(tmp_path)
    book, _ = await ledger.resume(ATTEMPT)
    await book.close(**ending())
    whole = verify(book.bundle())
    await ledger.aclose()
    assert isinstance(whole, Verified)
    assert whole.closing is not None


@pytest.mark.timeout(60)
async def test_a_full_disk_refuses_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    with started(tmp_path, str(300_000)) as process:
        out, err = process.communicate(timeout=50)
    said = out.splitlines(keepends=True)
    refused = [line for line in said if line.startswith("refused")]

    assert process.returncode == 0, err
    assert len(refused) == 20
    known = ("control.db could not be written", "stopped at a failed", "no durable record before")
    assert all(any(words in line for words in known) for line in refused), refused
    acknowledged = {int(word) for word in words(said, "receipt")}
    ledger = await Ledger.open(tmp_path)
    found = verify(ledger.bundle(ATTEMPT) or b"")
    assert isinstance(found, Verified), found
    assert {record.seq for record in found.records} >= acknowledged
    assert len(acknowledged) > 20
    book, _ = await ledger.resume(ATTEMPT)
    await book.close(**ending())
    await ledger.aclose()


@pytest.mark.timeout(60)
def test_a_second_broker_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        second = subprocess.run(
            [sys.executable, str(TESTS / "fakes" / "append_forever.py"), str(tmp_path)],
            env=os.environ | {"PYTHONPATH": str(TESTS)},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        process.kill()

    assert second.returncode == 1
    assert "one broker at a time" in second.stderr
