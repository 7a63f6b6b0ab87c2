"""Transcripts from the files of a result folder."""

import asyncio
import io
import os
from pathlib import Path

import pytest
from rich.console import Console
from tests.fakes.results import a_result

from stanchion.protocol.codec import encode_line
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.runner.live.log_printing import Printer
from stanchion.runner.live.log_sources import print_files
from stanchion.runner.results.job_folder import write_json

pytestmark = pytest.mark.timeout(30)


def an_attempt(folder: Path, *texts: str) -> Path:
    folder.mkdir(parents=True)
    say(folder, *texts)
    (folder / "harness.log").write_bytes(b"\x1b[1mraw\n")
    return folder


def say(folder: Path, *texts: str) -> None:
    with (folder / "transcript.jsonl").open("ab") as file:
        for text in texts:
            item = TranscriptItem(id=text, session="s", kind=ItemKind.TEXT, text=text)
            file.write(encode_line(item))


class Page(io.StringIO):
    """What is printed, and a sign whenever something was."""

    def __init__(self) -> None:
        super().__init__()
        self.printed = asyncio.Event()

    def write(self, text: str) -> int:
        self.printed.set()
        return super().write(text)


def a_printer(page: io.StringIO, **fields: bool) -> Printer:
    told = {"raw": False, "full": False, "as_json": False} | fields
    return Printer(Console(file=page, soft_wrap=True), **told)


async def test_the_transcript_is_printed_and_unknown_lines_are_passed_over(tmp_path: Path) -> None:
    folder = an_attempt(tmp_path / "a", "one")
    with (folder / "transcript.jsonl").open("ab") as file:
        file.write(b'{"from": "the future"}\n')
    say(folder, "two")
    page = io.StringIO()
    await print_files(folder, a_printer(page), follow=False)

    assert [line.split()[-1] for line in page.getvalue().splitlines()] == ["one", "two"]


async def test_a_jobs_folder_has_a_heading_for_each(tmp_path: Path) -> None:
    for name in ("a__1", "b__1"):
        an_attempt(tmp_path / "attempts" / name, name)
    page = io.StringIO()
    await print_files(tmp_path, a_printer(page), follow=False)

    assert page.getvalue().index("== a__1") < page.getvalue().index("== b__1")


async def test_following_goes_on_until_the_result_is_there(tmp_path: Path) -> None:
    folder = an_attempt(tmp_path / "a", "one")
    page = Page()
    async with asyncio.TaskGroup() as group:
        group.create_task(print_files(folder, a_printer(page), follow=True))
        await page.printed.wait()
        say(folder, "two")
        write_json(folder / "result.json", a_result())

    assert "two" in page.getvalue()


async def test_following_ends_with_a_keeper_that_was_killed(tmp_path: Path) -> None:
    folder = an_attempt(tmp_path / "a", "one")
    terms = a_terms_file(pid=os.getpid(), identity="another boot 1")
    write_json(folder / "attempt.json", terms)
    page = io.StringIO()
    await print_files(folder, a_printer(page), follow=True)

    assert "one" in page.getvalue()


def a_terms_file(*, pid: int, identity: str) -> object:
    from tests.fakes.receipts import frozen_launch

    from stanchion.runner.keeper.notes import AttemptFile

    return AttemptFile(
        run="7f3a90c41b22",
        attempt=1,
        launch=frozen_launch(),
        launch_sha256="a" * 64,
        task_folder="/t",
        untouched_reward="0",
        keeper_pid=pid,
        keeper_identity=identity,
    )


async def test_the_raw_output_is_byte_for_byte(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = an_attempt(tmp_path / "a", "one")
    await print_files(folder, a_printer(io.StringIO(), raw=True), follow=False)

    assert capfdbinary.readouterr().out == b"\x1b[1mraw\n"


async def test_a_folder_without_a_transcript_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"no transcript\.jsonl"):
        await print_files(tmp_path, a_printer(io.StringIO()), follow=False)
