"""Waits for the attempt that a `stanchion run` opens, and for what the broker then tells of it."""

from pathlib import Path

from fakes.file_there import until_so
from stanchion.broker.client import BrokerClient
from stanchion.protocol.events import decode_event
from stanchion.runner.keeper.notes import NOTES, Note, read_notes


def until_open(state: Path, out: Path, *, timeout_s: float) -> Note:
    """Its keeper's note, once the broker has opened the one attempt with results below `out`."""
    found: list[Note] = []

    def opened() -> bool:
        found[:] = [
            note
            for note in read_notes(state / NOTES)
            if note.directory is not None
            and Path(note.result_folder).is_relative_to(out.absolute())
        ]
        return found != []

    until_so(opened, state / NOTES, timeout_s=timeout_s)
    return found[0]


async def until_event(note: Note, wanted: type) -> None:
    """Return once the attempt has had such an event."""
    after = None
    async with BrokerClient(Path(note.admin_socket)) as broker:
        while True:
            page = await broker.events(note.attempt, after=after, wait_s=30)
            if any(isinstance(decode_event(entry.event), wanted) for entry in page.entries):
                return
            assert not page.ended, f"the attempt ended without {wanted.__name__}"
            after = page.cursor
