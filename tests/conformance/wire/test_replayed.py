"""Each recorded trap of a dialect, in memory: three ways and cut at every byte, one record.

The record of a fixture is the same in the pieces as given, byte by byte and in one piece. Bodies of
up to SMALL bytes are also read in two pieces at each of their bytes; for larger ones the byte by
byte way stands for that.
"""

from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.over_sockets import SMALL
from conformance.wire.recorded import load, paths
from conformance.wire.replay import WAYS, pieces, read, splits
from stanchion.broker.plane import forwarding
from stanchion.broker.plane.dialects.gemini import READER as GEMINI
from stanchion.protocol.dialects import Dialect

FIXTURES = [(dialect, path) for dialect in Dialect for path in paths(dialect)]
READERS = {Dialect.GEMINI: GEMINI, **forwarding.READERS}
ALL = [pytest.param(*fixture, id=f"{fixture[0]}-{fixture[1].stem}") for fixture in FIXTURES]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dialect", "path"), ALL)
def test_the_record_is_as_the_source_says(dialect: Dialect, path: Path, way: str) -> None:
    recorded = load(path)
    assert_answered(
        read(recorded, READERS[dialect], pieces(recorded, way)), recorded.expected, dialect
    )


@pytest.mark.parametrize(("dialect", "path"), ALL)
def test_the_record_is_the_same_wherever_the_body_is_cut(dialect: Dialect, path: Path) -> None:
    recorded = load(path)
    body = recorded.whole
    as_one = read(recorded, READERS[dialect], [body])
    for before, after in splits(body) if len(body) <= SMALL else ():
        assert read(recorded, READERS[dialect], (before, after)) == as_one, len(before)
