"""One broker and one raw provider for each module; attempts are opened per test or per module."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.launches import KEY
from fakes.raw_sink import RawSink, raw_sink
from functional.broker.live import LiveBroker, enrolled, live_broker
from security.broker.raw_client import Target


@pytest.fixture(scope="module")
def broker() -> Iterator[LiveBroker]:
    """In a folder with a short path: Unix socket paths are short. Nothing may fail inside it."""
    with tempfile.TemporaryDirectory(prefix="st") as folder, live_broker(Path(folder)) as broker:
        yield broker
        assert broker.process.poll() is None
        assert b"unexpected" not in broker.paths.log_file.read_bytes()
        assert KEY.encode() not in broker.paths.log_file.read_bytes() + broker.output.read_bytes()


@pytest.fixture(scope="module")
def sink() -> Iterator[RawSink]:
    with raw_sink() as sink:
        yield sink


@pytest.fixture(scope="module")
def target(broker: LiveBroker, sink: RawSink) -> Iterator[Target]:
    """The model socket of an enrolled attempt whose provider is the sink."""
    with asyncio.Runner() as runner:
        context = enrolled(broker, sink.port)
        run = runner.run(context.__aenter__())
        runner.run(run.supervisor.close())  # what it is told is kept, and no pipe fills up
        yield Target(run.id, run.directory, run.lease, sink)
        runner.run(context.__aexit__(None, None, None))


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with a short path, for a broker of the test's own."""
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        yield Path(folder)
