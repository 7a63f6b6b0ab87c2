"""The result that a keeper leaves, for whoever watched."""

import os
from pathlib import Path

import msgspec
from tests.fakes.results import a_result
from tests.fakes.views import a_note

from stanchion.runner.host.process_identity import own_identity
from stanchion.runner.live.targets import Target
from stanchion.runner.live.watching import result_of
from stanchion.runner.results.job_folder import write_json


async def test_a_result_that_nobody_wrote_is_none(tmp_path: Path) -> None:
    gone = a_note(result_folder=str(tmp_path), pid=os.getpid())

    assert await result_of(Target(None, gone)) is None
    assert await result_of(Target(None, None)) is None


async def test_the_result_of_a_keeper_that_lives_is_waited_for(tmp_path: Path) -> None:
    note = a_note(result_folder=str(tmp_path), pid=os.getpid(), identity=own_identity())
    write_json(tmp_path / "result.json", a_result())

    assert await result_of(Target(None, note)) == a_result()
    elsewhere = msgspec.structs.replace(note, result_folder=str(tmp_path / "gone"), identity="x")
    assert await result_of(Target(None, elsewhere)) is None
