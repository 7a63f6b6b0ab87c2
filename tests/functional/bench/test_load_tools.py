"""The bench's own tools: they count what came, and nothing that is not right."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.broker import tools
from fakes.upstream import STREAM_HEAD, Answer, chunk, response, say, sends, upstream

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here: cc")

PIECE = say('{"choices":[{"delta":{"content":"@T1@xx"}}]}')
DONE = say("[DONE]")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    tools.build(folder)
    return folder


async def load(built: Path, port: int, *arguments: str) -> dict[str, float]:
    targets = built / "targets"
    targets.write_text(f"tcp {port} token\n")
    process = await asyncio.create_subprocess_exec(
        str(built / "client"), str(targets), *arguments, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    counted: dict[str, float] = json.loads(output)
    return counted


@pytest.fixture
def port(built: Path) -> Iterator[int]:
    """Where the provider listens."""
    port = tools.free_port()
    with subprocess.Popen([str(built / "provider"), str(port)], stdout=subprocess.PIPE) as provider:
        assert provider.stdout is not None
        assert provider.stdout.readline() == b"ready\n"
        yield port
        provider.kill()


async def test_every_chunk_of_every_stream_is_counted_and_timed(built: Path, port: int) -> None:
    for keep in ("0", "1"):
        found = await load(built, port, "7", "3", "9", "1", keep, "bench-1-5-2-60", "100", "1")
        assert (found["finished"], found["errors"], found["chunks"]) == (21, 0, 105)
        assert found["lag_p50_ms"] > 0
    found = await load(built, port, "4", "9", "9", "0", "1", "bench-0-1-0-60", "9000", "0")
    assert (found["finished"], found["errors"], found["chunks"]) == (36, 0, 0)


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (sends(STREAM_HEAD, chunk(PIECE), chunk(DONE), b"0\r\n\r\n"), 1),
        (sends(STREAM_HEAD, chunk(PIECE * 3 + DONE), b"0\r\n\r\n"), 1),
        (sends(STREAM_HEAD, chunk(PIECE * 2), b"0\r\n\r\n"), 1),
        (sends(STREAM_HEAD, chunk(PIECE * 2 + DONE)), 0),
        (sends(STREAM_HEAD, b"zz\r\n"), 0),
        (response(500, b"{}"), 0),
        (sends(b"HTTP/1.1 200 OK\r\n\r\n"), 0),
    ],
)
async def test_what_is_not_right_is_an_error(built: Path, answer: Answer, wrong: int) -> None:
    async with upstream(answer) as provider:
        found = await load(
            built, provider.port, "1", "1", "1", "0", "0", "bench-0-2-0-2", "10", "1"
        )
    assert (found["finished"], found["errors"], found["wrong"]) == (0, 1, wrong)
