"""One broker process for the tests of a module; each test opens attempts of its own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from functional.broker.live import LiveBroker, live_broker


@pytest.fixture(scope="module")
def broker() -> Iterator[LiveBroker]:
    """In a folder with a short path: Unix socket paths are short."""
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        yield broker


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with a short path, for a broker of the test's own."""
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        yield Path(folder)
