"""Takes away what dead keepers left, and ends their attempts by name. Only what is proved dead.

Looks again at the owner right before each act; what could not be taken away is said and stays.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.broker.client.config_file import find_config
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.host.process_identity import is_gone
from stanchion.runner.keeper.notes import Note, mark_ended, read_notes
from stanchion.runner.launching.brokers import ensure_broker, live_broker
from stanchion.runner.orphans.ending import end
from stanchion.runner.orphans.looking import Places
from stanchion.runner.orphans.traces import Trace, TraceKind
from stanchion.runner.sandbox.cgroup import GroupV1

RUNSC_S = 30.0
ORDER = list(TraceKind)


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one trace."""

    trace: Trace
    done: bool
    words: str


async def remove_all(
    places: Places, proven: list[Trace], *, say: Callable[[str], None]
) -> list[Removed]:
    """The same with a broker, which is started where an attempt needs one for its ending."""
    if any(trace.kind is TraceKind.RUN for trace in proven):
        config = find_config(None, os.environ, folder=Path.cwd(), home=Path.home())
        live = await live_broker(places.paths)
        if live is None:
            await ensure_broker(places.paths, config, say)
    return await remove(places, proven)


async def remove(places: Places, found: list[Trace]) -> list[Removed]:
    """All that is proved dead, in an order in which nothing loses what explains it."""
    notes = {note.attempt: note for note in read_notes(places.notes)}
    done = []
    async with BrokerClient(places.paths.admin_socket) as broker:
        for trace in sorted(found, key=lambda trace: ORDER.index(trace.kind)):
            note = notes.get(trace.attempt or "")
            if not trace.proven or note is None or not is_gone(note.pid, note.identity):
                continue
            done.append(await _remove(places, broker, trace, note))
    for note in _settled(notes, done):
        mark_ended(places.notes, note)
    return done


async def _remove(places: Places, broker: BrokerClient, trace: Trace, note: Note) -> Removed:
    try:
        match trace.kind:
            case TraceKind.SANDBOX:
                words = await _delete_sandbox(places, note)
            case TraceKind.CGROUP:
                await GroupV1(Path(trace.what), "").remove()
                words = "removed"
            case TraceKind.RUN:
                words = f"ended {await end(broker, note)}"
            case TraceKind.DIRECTORY | TraceKind.SCRATCH:
                await asyncio.to_thread(shutil.rmtree, trace.what)
                words = "removed"
    except (OSError, RefusedError, BrokerUnreachableError, RunscError) as error:
        return Removed(trace=trace, done=False, words=f"left: {error}")
    return Removed(trace=trace, done=True, words=words)


class RunscError(Exception):
    """runsc did not do it; the message is its own."""


async def _delete_sandbox(places: Places, note: Note) -> str:
    if note.runsc is None:
        raise RunscError("its note names no runsc")
    process = await asyncio.create_subprocess_exec(
        *(note.runsc, f"--root={places.runsc_root}", "delete", "--force", note.sandbox_id),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), RUNSC_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise RunscError(f"runsc delete did not end in {RUNSC_S:.0f} s") from None
    if process.returncode:
        raise RunscError(output.decode(errors="replace").strip()[-300:] or "runsc delete failed")
    return "deleted"


def _settled(notes: dict[str, Note], done: list[Removed]) -> list[Note]:
    """Attempts of which nothing is left: their notes need not be looked at again."""
    left = {removed.trace.attempt for removed in done if not removed.done}
    return [note for name, note in notes.items() if note.is_orphan and name not in left]
