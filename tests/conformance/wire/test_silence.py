"""Each recorded trap that only the broker's patience ends, over real sockets, with little of it."""

import hashlib
from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.over_sockets import DOORS
from conformance.wire.provider import provider
from conformance.wire.recorded import answers, load
from conformance.wire.replay import WAYS, pieces
from fakes.supervisor import parse
from functional.broker.plane.in_process import in_process
from stanchion.broker.plane.limits import Limits
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Deadline

CHAT = Dialect.OPENAI_CHAT
SILENT = [path for dialect in Dialect for path in answers(dialect) if load(path).needs_the_clock]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", SILENT, ids=lambda path: path.stem)
async def test_silence_is_cut_and_named_on_the_record(path: Path, way: str) -> None:
    recorded = load(path)
    assert Dialect(path.parent.name) is CHAT
    async with (
        provider(recorded, pieces(recorded, way)) as up,
        in_process(up.port, limits=Limits(idle_s=0.2)) as stage,
    ):
        reader, writer = await stage.request(DOORS[CHAT].body.encode())
        reply = parse(await reader.read())
        writer.close()
        answered = await stage.answered()
    # Comments do not wind the clock up: cut byte by byte, they may be ended at any of them.
    assert not reply.whole
    assert up.capture.sent.startswith(reply.body)
    assert answered.body_sha256 == hashlib.sha256(reply.body).hexdigest()
    assert answered.deadline is Deadline.IDLE
    assert_answered(answered, recorded.expected, CHAT)
