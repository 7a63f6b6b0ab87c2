"""Process 1 of a sandbox: the whole supervisor over a harness that saves a few rows and then idles.

Prints what it has used so far, a JSON line each 5 s. The harness is a script; its adapter, the
launch and the broker's sockets lie in /run/stanchion.
"""

import asyncio
import json
import os
import resource
import sys
import time
from pathlib import Path

sys.path += ["/opt/stanchion/app", "/opt/stanchion/lib/python3.11/site-packages", "/run/stanchion"]

from fakes.scripted_harness import ScriptedHarness
from stanchion.harness_adapters.base import SqliteStore
from stanchion.supervisor.paths import Paths
from stanchion.supervisor.run import Story

LOG = "/root/harness.db"
HARNESS = f"""
import sqlite3, time
log = sqlite3.connect({LOG!r}, isolation_level=None)
log.execute("pragma journal_mode=wal")
log.execute("create table event(data)")
for row in range(3):
    log.execute("insert into event values ('none')")
time.sleep(3600)
"""
EACH_S = 5


async def main() -> None:
    store = SqliteStore(path=LOG, query="select rowid, data from event where rowid > ?")
    harness = ScriptedHarness(HARNESS, store=store)
    story = Story(
        find_adapter=lambda _: harness,
        paths=Paths(harness_root=Path("/run/stanchion/harness")),
    )
    async with asyncio.TaskGroup() as tasks:
        metering = tasks.create_task(meter())
        await story.run()
        metering.cancel()


async def meter() -> None:
    while True:
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu_ms = round((used.ru_utime + used.ru_stime) * 1000)
        line = {"mono_ms": int(time.monotonic() * 1000), "cpu_ms": cpu_ms}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        await asyncio.sleep(EACH_S)


asyncio.run(main())
os._exit(0)
