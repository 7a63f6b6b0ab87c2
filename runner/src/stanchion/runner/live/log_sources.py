"""Where a transcript comes from: the files of a result folder, or the broker's stream."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.codec import CodecError, LineSplitter, decode
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.protocol.transcript import TranscriptItem
from stanchion.runner.host.process_identity import is_gone
from stanchion.runner.keeper.notes import read_attempt_file
from stanchion.runner.live.following import read_events
from stanchion.runner.live.log_printing import Printer
from stanchion.runner.live.targets import find_target
from stanchion.runner.results.job_folder import ATTEMPTS, RESULT

TRANSCRIPT, OUTPUT = "transcript.jsonl", "harness.log"
POLL_S = 0.5
CHUNK_BYTES = 256 * 1024


async def print_files(path: Path, printer: Printer, *, follow: bool) -> None:
    """The attempts at or below this path, one after the other."""
    folders = attempt_folders(path)
    for folder in folders:
        if len(folders) > 1:
            printer.heading(folder.name)
        await _print_folder(folder, printer, follow=follow)


async def print_run(name: str, paths: StatePaths, printer: Printer, *, follow: bool) -> None:
    """An attempt by its name: from the broker, else from the files its keeper wrote."""
    target = await find_target(name, paths)
    if target.view is None or (not target.is_open and target.folder is not None):
        if target.folder is None:
            raise _no_files(Path(target.note.result_folder if target.note else name))
        await print_files(target.folder, printer, follow=follow)
        return
    try:
        async with BrokerClient(paths.admin_socket) as broker:
            await read_events(broker, target.id, printer.entry, follow=follow)
    except RefusedError:
        if target.folder is None:
            raise
        await print_files(target.folder, printer, follow=follow)


def attempt_folders(path: Path) -> list[Path]:
    """An attempt's folder, or those of a job; RefusedError where there is none."""
    if path.name == RESULT:
        path = path.parent
    if (path / TRANSCRIPT).is_file():
        return [path]
    found = sorted(file.parent for file in (path / ATTEMPTS).glob(f"*/{TRANSCRIPT}"))
    if not found:
        raise _no_files(path)
    return found


async def _print_folder(folder: Path, printer: Printer, *, follow: bool) -> None:
    splitter = LineSplitter()
    file = folder / (OUTPUT if printer.raw else TRANSCRIPT)
    with await asyncio.to_thread(file.open, "rb") as source:
        while True:
            # Looked at before reading: what is written until then is read below.
            over = not follow or await asyncio.to_thread(_is_over, folder)
            while data := source.read(CHUNK_BYTES):
                if printer.raw:
                    printer.output(data)
                else:
                    _print_items(splitter.feed(data), printer)
            if over:
                return
            await asyncio.sleep(POLL_S)


def _print_items(lines: Iterator[bytes], printer: Printer) -> None:
    for line in lines:
        try:
            printer.item(decode(line, TranscriptItem))
        except CodecError:
            continue  # of a later version


def _is_over(folder: Path) -> bool:
    """Whether nothing more will be written there."""
    if (folder / RESULT).exists():
        return True
    terms = read_attempt_file(folder)
    return terms is not None and is_gone(terms.keeper_pid, terms.keeper_identity)


def _no_files(path: Path) -> Exception:
    return refuse(
        "no_transcript",
        field="RUN|PATH",
        value=os.fspath(path),
        rule=f"there is no {TRANSCRIPT} at or below this path",
        remedy="Name a folder that `stanchion run` wrote, or one of its attempts",
    )
