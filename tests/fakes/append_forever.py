"""A broker's ledger at work until it is killed: says what it was told is durable.

Usage: append_forever.py STATE_DIR [MAX_FILE_BYTES]. Prints `receipt SEQ`, `event CURSOR` and, where
the disk refuses, `refused WORDS`.
"""

import asyncio
import itertools
import resource
import sys
from pathlib import Path

from fakes.receipts import ATTEMPT, exchange_start, run_open
from stanchion.broker.receipts.ledger import Book, Ledger, LedgerError
from stanchion.protocol.events import AssertedBy
from stanchion.protocol.receipt import ExchangeStart, RunOpen

TASKS = 20


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - its only output


async def work(ledger: Ledger, book: Book, numbers: "itertools.count[int]") -> None:
    while True:
        record = await book.append(ExchangeStart, **exchange_start(next(numbers)))
        say("receipt", record.seq)


async def publish(ledger: Ledger) -> None:
    while True:
        cursor = ledger.events.append(ATTEMPT, AssertedBy.BROKER, b'{"type":"warning"}', 1)
        await ledger.events.flushed(cursor)
        say("event", cursor)


async def main(state: Path) -> None:
    ledger = await Ledger.open(state)
    if ledger.bundle(ATTEMPT) is None:
        book = await ledger.begin(ATTEMPT)
        say("receipt", (await book.append(RunOpen, **run_open())).seq)
    else:
        book, _ = await ledger.resume(ATTEMPT)
    numbers = itertools.count(book.exchanges + 1)
    if len(sys.argv) > 2:
        largest = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    jobs = [work(ledger, book, numbers) for _ in range(TASKS)]
    if len(sys.argv) == 2:
        jobs.append(publish(ledger))
    for ended in await asyncio.gather(*jobs, return_exceptions=True):
        if not isinstance(ended, LedgerError):
            raise TypeError(f"ended with {ended!r}")
        say("refused", ended)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
