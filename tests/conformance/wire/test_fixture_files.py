"""The fixture files themselves: each can be read, names its source, and expects what exists."""

from pathlib import Path

import pytest

from conformance.wire.expecting import NO_ANSWER, USAGE
from conformance.wire.recorded import FOLDER, load
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered

FILES = sorted(FOLDER.glob("*/*.toml"))
KNOWN = {*Answered.__struct_fields__, *USAGE, *NO_ANSWER}


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 270


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_in_order(path: Path) -> None:
    recorded = load(path)
    assert Dialect(path.parent.name)
    assert recorded.about
    assert recorded.source
    assert ("result" in recorded.expected) is not recorded.is_refused
    assert set(recorded.expected) <= KNOWN
