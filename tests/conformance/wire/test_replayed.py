"""Each recorded trap of a dialect, in memory: three ways and cut at every byte, one record.

The record of a fixture is the same in the pieces as given, byte by byte and in one piece, and in
two pieces wherever they are cut; bodies of more than SMALL bytes leave out the last, and come in
larger pieces instead of bytes.
"""

from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.recorded import load, readable
from conformance.wire.replay import WAYS, pieces, read, splits
from stanchion.protocol.dialects import Dialect

ALL = [
    pytest.param(dialect, path, id=f"{dialect}-{path.stem}")
    for dialect in Dialect
    for path in readable(dialect)
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dialect", "path"), ALL)
def test_the_record_is_as_the_source_says(dialect: Dialect, path: Path, way: str) -> None:
    recorded = load(path)
    assert_answered(read(recorded, dialect, pieces(recorded, way)), recorded.expected, dialect)


@pytest.mark.parametrize(("dialect", "path"), ALL)
def test_the_record_is_the_same_wherever_the_body_is_cut(dialect: Dialect, path: Path) -> None:
    recorded = load(path)
    as_one = read(recorded, dialect, [recorded.whole])
    for before, after in splits(recorded.whole):
        assert read(recorded, dialect, (before, after)) == as_one, len(before)
