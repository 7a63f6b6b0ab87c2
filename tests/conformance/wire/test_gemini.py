"""Each recorded trap of Gemini's generateContent, cut three ways: the record is the same."""

from pathlib import Path

import pytest

from conformance.wire.replay import CUTS, check, fixtures, load
from stanchion.broker.plane.dialects.gemini import READER

FIXTURES = fixtures("gemini")


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_record_is_as_the_source_says(path: Path, cut: str) -> None:
    check(path, READER, cut)


def test_every_fixture_names_its_source() -> None:
    assert len(FIXTURES) >= 40
    for path in FIXTURES:
        assert load(path)["source"], path
