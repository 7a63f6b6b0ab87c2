"""The rehearsal provider as a subprocess of an attempt."""

from pathlib import Path

import aiohttp
import psutil
import pytest

from stanchion.runner.launching.rehearsals import RehearsalError, rehearsing
from stanchion.runner.tasks.examples import example_task

pytestmark = pytest.mark.timeout(60)
KEY = "sk-rehearsal-test-key"
SCRIPT = example_task("hello") / "rehearsal.toml"


async def ask(port: int, key: str) -> int:
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": []}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers={"authorization": f"Bearer {key}"}) as response,
    ):
        return response.status


def providers(*, of: Path) -> list[psutil.Process]:
    """Those that log into this folder; other tests keep theirs for longer."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and str(of / "log") in child.cmdline()
    ]


async def test_it_answers_to_its_key_alone_and_ends_with_the_attempt(tmp_path: Path) -> None:
    async with rehearsing(SCRIPT, key=KEY, log=tmp_path / "log") as port:
        assert await ask(port, KEY) == 200
        assert await ask(port, "sk-other") == 401
        (process,) = providers(of=tmp_path)
        assert KEY not in " ".join(process.cmdline())
        assert KEY not in process.environ().values()
    assert providers(of=tmp_path) == []
    assert KEY.encode() not in (tmp_path / "log").read_bytes()


async def test_a_broken_script_is_said_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text("version = 2\n")
    with pytest.raises(RehearsalError, match="version"):
        async with rehearsing(tmp_path / "script.toml", key=KEY, log=tmp_path / "log"):
            pytest.fail("it started")
    assert providers(of=tmp_path) == []
